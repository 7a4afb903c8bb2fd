"""Intervals of a change: the published ones, and how often two runs of the same thing are told apart."""

from __future__ import annotations

import math

import numpy as np
import pytest

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


def test_the_growth_joins_both_intervals_in_quadrature_of_logarithms() -> None:
    old = Reading(value=0.5, low=0.5 / math.exp(0.03), high=0.5 * math.exp(0.03))
    new = Reading(value=0.6, low=0.6 / math.exp(0.04), high=0.6 * math.exp(0.04))
    found = grown(old, new)
    assert found.value == pytest.approx(1.2)
    assert found.low == pytest.approx(1.2 / math.exp(0.05))
    assert found.high == pytest.approx(1.2 * math.exp(0.05))


def test_a_growth_without_an_interval_on_one_side_has_none() -> None:
    assert grown(Reading(value=0.5), Reading(value=0.6, low=0.5, high=0.7)).low is None


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
    assert read_growth(Reading(value=value, low=low, high=high), LATENCY_MATTERS, 1.0).trend is trend


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


def test_what_one_comparison_would_tell_many_may_not() -> None:
    growth = Reading(value=1.10, low=1.06, high=1.14)
    assert read_growth(growth, LATENCY_MATTERS, widening(1)).trend is Trend.WORSE
    among_many = read_growth(growth, LATENCY_MATTERS, widening(40))
    assert among_many.trend is Trend.UNKNOWN
    assert among_many.by_chance


@pytest.mark.parametrize("growth", [0.85, 0.97, 1.03, 1.15])
def test_the_effort_that_is_asked_for_is_what_it_takes(growth: float) -> None:
    wide = math.exp(0.12)
    read = read_growth(Reading(value=growth, low=growth / wide, high=growth * wide), LATENCY_MATTERS, 1.0)
    assert read.trend is Trend.UNKNOWN
    assert read.effort is not None
    narrow = math.exp(0.12 / math.sqrt(read.effort) * 0.999)
    enough = read_growth(Reading(value=growth, low=growth / narrow, high=growth * narrow), LATENCY_MATTERS, 1.0)
    assert enough.trend is not Trend.UNKNOWN


def test_where_no_effort_would_do_none_is_asked_for() -> None:
    growth = Reading(value=LATENCY_MATTERS, low=0.9, high=1.2)
    assert read_growth(growth, LATENCY_MATTERS, 1.0).effort is None


@pytest.mark.parametrize("noise", [0.005, 0.02, 0.05])
def test_of_many_pairs_of_equal_runs_few_have_anything_that_is_worse(noise: float) -> None:
    """Forty cells a pair; one pair in twenty may have one that is worse, and the margin leaves fewer."""
    rng = np.random.default_rng(0)
    cells, pairs = 40, 300
    wider = widening(cells)
    alarms = 0
    for _ in range(pairs):
        for then, now in rng.normal(0.0, noise, (cells, 2)):
            old, new = (
                Reading(value=math.exp(x), low=math.exp(x - 1.96 * noise), high=math.exp(x + 1.96 * noise))
                for x in (then, now)
            )
            if read_growth(grown(old, new), LATENCY_MATTERS, wider).trend is Trend.WORSE:
                alarms += 1
                break
    assert alarms / pairs <= 0.05


def test_a_tenth_more_time_is_found_among_forty_cells() -> None:
    """With intervals of one per cent to both sides, as a few seconds of bursts give."""
    old = Reading(value=0.72, low=0.713, high=0.727)
    new = Reading(value=0.792, low=0.784, high=0.800)
    assert read_growth(grown(old, new), LATENCY_MATTERS, widening(40)).trend is Trend.WORSE
