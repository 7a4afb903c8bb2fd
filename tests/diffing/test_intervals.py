"""Intervals of a change: the published ones, and how often two runs of the same thing are told apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import stdtrit

from parity.compare.decisions.statistics import wilson
from parity.diffing.changes import Reading, Trend
from parity.diffing.intervals import (
    DECISIONS_MATTER,
    LATENCY_MATTERS,
    grown,
    moved,
    read_gain,
    read_growth,
    widening,
)
from parity.records import LatencyMeasurement


def proportion(successes: int, n: int) -> Reading:
    low, high = wilson(successes, n)
    return Reading(value=successes / n, low=low, high=high)


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((5, 56), (0, 29), -0.0381, 0.1926),
    ],
)
def test_the_difference_of_two_proportions_is_newcombes(
    one: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    """Table II of Newcombe (1998), method 10."""
    found = moved(proportion(*other), proportion(*one))
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


def timing(ratio: float | None, low: float | None = None, high: float | None = None) -> LatencyMeasurement:
    return LatencyMeasurement(
        batch=8, threads=1, median_ms=1.0, throughput=8000.0, n=30, processes=3, ratio=ratio, ratio_low=low,
        ratio_high=high,
    )  # fmt: skip


def growth_of(old: LatencyMeasurement, new: LatencyMeasurement) -> Reading:
    found = grown(old, new)
    assert found is not None
    return found


def test_the_growth_joins_both_intervals_in_quadrature_of_logarithms() -> None:
    old = timing(0.5, 0.5 / math.exp(0.03), 0.5 * math.exp(0.03))
    new = timing(0.6, 0.6 / math.exp(0.04), 0.6 * math.exp(0.04))
    found = growth_of(old, new)
    assert found.value == pytest.approx(1.2)
    assert found.low == pytest.approx(1.2 / math.exp(0.05))
    assert found.high == pytest.approx(1.2 * math.exp(0.05))


@pytest.mark.parametrize(("old", "new"), [(timing(0.5), timing(0.6, 0.5, 0.7)), (timing(0.5, 0.4, 0.6), timing(0.6))])
def test_a_growth_without_an_interval_on_one_side_has_none(old: LatencyMeasurement, new: LatencyMeasurement) -> None:
    assert growth_of(old, new) == Reading(value=1.2)


def test_without_a_ratio_there_is_no_growth() -> None:
    assert grown(timing(None), timing(0.6, 0.5, 0.7)) is None


def test_the_widening_is_that_of_dunn() -> None:
    assert widening(1) == 1.0
    assert widening(0) == 1.0
    assert widening(10) == pytest.approx(2.807 / 1.960, abs=1e-3)


@pytest.mark.parametrize(
    ("low", "value", "high", "trend"),
    [
        (1.06, 1.10, 1.14, Trend.WORSE),
        (0.86, 0.90, 0.94, Trend.BETTER),
        (0.96, 1.00, 1.04, Trend.SAME),
        (1.01, 1.10, 1.20, Trend.UNKNOWN),
        (0.90, 1.00, 1.10, Trend.UNKNOWN),
    ],
)
def test_a_growth_is_worse_only_where_its_whole_interval_matters(
    low: float, value: float, high: float, trend: Trend
) -> None:
    assert read_growth(Reading(value=value, low=low, high=high), LATENCY_MATTERS).trend is trend


@pytest.mark.parametrize(
    ("low", "value", "high", "trend"),
    [
        (-0.05, -0.03, -0.01, Trend.WORSE),
        (0.01, 0.03, 0.05, Trend.BETTER),
        (-0.005, 0.0, 0.005, Trend.SAME),
        (-0.05, -0.02, 0.01, Trend.UNKNOWN),
    ],
)
def test_a_loss_of_decisions_counts_where_the_interval_leaves_out_zero(
    low: float, value: float, high: float, trend: Trend
) -> None:
    assert read_gain(Reading(value=value, low=low, high=high), DECISIONS_MATTER, 1.0).trend is trend


def test_a_loss_that_one_comparison_would_tell_many_may_not() -> None:
    loss = Reading(value=-0.03, low=-0.05, high=-0.01)
    assert read_gain(loss, DECISIONS_MATTER, widening(1)).trend is Trend.WORSE
    among_many = read_gain(loss, DECISIONS_MATTER, widening(40))
    assert among_many.trend is Trend.UNKNOWN
    assert among_many.by_chance


@pytest.mark.parametrize("growth", [0.85, 0.97, 1.03, 1.15])
def test_the_effort_that_is_asked_for_is_what_it_takes(growth: float) -> None:
    wide = math.exp(0.12)
    read = read_growth(Reading(value=growth, low=growth / wide, high=growth * wide), LATENCY_MATTERS)
    assert read.trend is Trend.UNKNOWN
    assert read.effort is not None
    narrow = math.exp(0.12 / math.sqrt(read.effort) * 0.999)
    enough = read_growth(Reading(value=growth, low=growth / narrow, high=growth * narrow), LATENCY_MATTERS)
    assert enough.trend is not Trend.UNKNOWN


def test_where_no_effort_would_do_none_is_asked_for() -> None:
    growth = Reading(value=LATENCY_MATTERS, low=0.9, high=1.2)
    assert read_growth(growth, LATENCY_MATTERS).effort is None


def drawn(rng: np.random.Generator, noise: float, processes: int, growth: float = 1.0) -> LatencyMeasurement:
    """A ratio as a few processes have it, with Student's interval."""
    logs = rng.normal(math.log(growth), noise, processes)
    centre = float(logs.mean())
    half = float(stdtrit(processes - 1, 0.975) * logs.std(ddof=1)) / math.sqrt(processes)
    return timing(math.exp(centre), math.exp(centre - half), math.exp(centre + half))


@pytest.mark.parametrize(("noise", "processes"), [(0.01, 3), (0.03, 3), (0.03, 9), (0.06, 6)])
def test_of_many_pairs_of_equal_reports_few_have_a_cell_that_is_slower(noise: float, processes: int) -> None:
    """27 cells a report; noise is that between processes."""
    rng = np.random.default_rng(0)

    def slower() -> bool:
        growth = growth_of(drawn(rng, noise, processes), drawn(rng, noise, processes))
        return read_growth(growth, LATENCY_MATTERS).trend is Trend.WORSE

    alarms = sum(any(slower() for _ in range(27)) for _ in range(200))
    assert alarms / 200 <= 0.05


def test_a_tenth_more_time_is_mostly_found() -> None:
    """With three processes a report, and one per cent of noise between them."""
    rng = np.random.default_rng(0)
    found = [read_growth(growth_of(drawn(rng, 0.01, 3), drawn(rng, 0.01, 3, 1.1)), LATENCY_MATTERS) for _ in range(300)]
    assert sum(told.trend is Trend.WORSE for told in found) / 300 > 0.75
    assert not any(told.trend in {Trend.BETTER, Trend.SAME} for told in found)
