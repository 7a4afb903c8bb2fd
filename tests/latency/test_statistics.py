from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from parity.latency.statistics import MIN_FOR_P90, MIN_FOR_P99, Paired, interval, summarise
from parity.records import LatencyMeasurement
from tests.latency.made import bursts, process


def bounds(measured: LatencyMeasurement) -> tuple[float, float]:
    assert measured.ratio_low is not None
    assert measured.ratio_high is not None
    return measured.ratio_low, measured.ratio_high


def test_median_is_of_the_bursts_and_percentiles_are_of_all_calls() -> None:
    measured = summarise(8, 2, [Paired(bursts((0.01, 0.01, 0.02), (0.03,), (0.04,)))])
    assert measured.median_ms == pytest.approx(30)
    assert measured.p50_ms == pytest.approx(20)
    assert measured.throughput == pytest.approx(8 / 0.03)
    assert (measured.batch, measured.threads, measured.n, measured.processes, measured.calls) == (8, 2, 3, 1, 5)
    assert measured.seconds == pytest.approx(0.11)


def test_the_ratio_is_to_eager_in_the_same_round() -> None:
    pair = Paired(bursts((0.5,), (1.0,), (2.0,)), bursts((1.0,), (2.0,), (4.0,)))
    measured = summarise(1, 1, [pair, pair])
    assert (measured.ratio, measured.ratio_low, measured.ratio_high) == pytest.approx((0.5, 0.5, 0.5))


@pytest.mark.parametrize(("name", "percent", "least"), [("p90", 90, MIN_FOR_P90), ("p99", 99, MIN_FOR_P99)])
def test_a_percentile_takes_as_many_calls_as_make_two_slower_ones_almost_certain(
    name: str, percent: int, least: int
) -> None:
    few, enough = (summarise(1, 1, [Paired(bursts(np.linspace(1, 2, n).tolist()))]) for n in (least - 1, least))
    assert getattr(few, f"{name}_ms") is None
    assert few.needed is not None
    assert few.needed[name] == least
    assert getattr(enough, f"{name}_ms") == pytest.approx(1e3 * (1 + percent / 100))
    assert name not in (enough.needed or {})
    assert binom.cdf(1, least, 1 - percent / 100) <= 0.01 < binom.cdf(1, least - 1, 1 - percent / 100)


def test_one_process_says_nothing_of_others_and_has_no_interval() -> None:
    alone, without = summarise(1, 1, [process(0)]), summarise(1, 1, [Paired(bursts((0.01,), (0.01,)))])
    assert alone.ratio == pytest.approx(0.5, rel=0.05)
    assert (alone.ratio_low, alone.ratio_high, alone.median_low_ms) == (None, None, None)
    assert (without.ratio, without.ratio_low, without.ratio_high) == (None, None, None)


def test_load_that_both_feel_cancels_out_of_the_ratio() -> None:
    measured = summarise(1, 1, [process(seed, noise=0.001) for seed in range(3)])
    low, high = bounds(measured)
    assert measured.ratio == pytest.approx(0.5, rel=2e-3)
    assert high - low < 0.005


@pytest.mark.parametrize("processes", [3, 6])
def test_the_interval_holds_the_true_ratio_about_as_often_as_it_says(processes: int) -> None:
    """Processes differ by 3 % for their whole life here, so that rounds alone would say far too much."""
    held = 0
    for seed in range(200):
        speeds = np.exp(0.03 * np.random.default_rng(seed).standard_normal(processes))
        made = [process(seed * 10 + at, speed=speed) for at, speed in enumerate(speeds)]
        low, high = bounds(summarise(1, 1, made, seed=seed))
        held += low <= 0.5 <= high
    assert held >= 182


def test_a_process_that_is_slower_for_its_whole_life_widens_the_interval() -> None:
    alike = bounds(summarise(1, 1, [process(0), process(1), process(2)]))
    apart = bounds(summarise(1, 1, [process(0), process(1), process(2, speed=1.3)]))
    assert apart[1] / apart[0] > 1.25 > alike[1] / alike[0]
    assert apart[0] < 0.51
    assert apart[1] > 0.64


def test_processes_that_agree_by_luck_are_not_believed_more_than_their_rounds() -> None:
    noisy = np.log([0.8, 0.9, 1.0, 1.1, 1.2])
    found = interval([noisy, noisy, noisy])
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.95
    assert found.high > 1.05


def test_a_seed_fixes_the_interval() -> None:
    made = [process(0), process(1)]
    assert summarise(1, 1, made, seed=3) == summarise(1, 1, made, seed=3)


def test_a_slowdown_moves_the_whole_interval_and_noise_alone_does_not() -> None:
    def measured(first: int, ratio: float) -> tuple[float, float]:
        return bounds(summarise(1, 1, [process(first + at, ratio=ratio) for at in range(4)]))

    before, noisy, slower = measured(0, 0.5), measured(10, 0.5), measured(20, 0.75)
    assert noisy[0] < before[1]
    assert slower[0] > before[1]


def test_rounds_in_which_somebody_waited_for_a_core_are_left_out_where_enough_are_left() -> None:
    calm, late = bursts(*[(0.5,)] * 4, waited=0.0), bursts(*[(5.0,)] * 3, waited=0.6)
    eager = bursts(*[(1.0,)] * 7, waited=0.0)
    pair = Paired((*calm, *late), eager)
    measured = summarise(1, 1, [pair, pair])
    assert measured.ratio == pytest.approx(0.5)
    assert (measured.n, measured.calls) == (8, 14)
    assert len(Paired(late, eager[:3]).undisturbed().target) == 3


def test_a_round_in_which_eager_waited_is_left_out_as_well() -> None:
    calm = bursts(*[(1.0,)] * 5, waited=0.0)
    late = (*bursts((9.0,), waited=0.6), *calm[1:])
    assert len(Paired(calm, late).undisturbed().eager) == 4


def test_memory_is_the_highest_peak_of_any_process() -> None:
    made = [Paired(bursts((1.0,), (1.0,)), peak_bytes=peak) for peak in (5, 9, None)]
    assert summarise(1, 1, made).peak_bytes == 9
    assert summarise(1, 1, made[2:]).peak_bytes is None
