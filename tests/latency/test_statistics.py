from __future__ import annotations

import numpy as np
import pytest

from parity.latency.statistics import MIN_FOR_P90, Paired, summarise


def process(
    seed: int, *, ratio: float = 0.5, noise: float = 0.05, rounds: int = 24, calls: int = 4, speed: float = 1.0
) -> Paired:
    """Bursts around 10 ms of eager, with a load that both feel in the same round."""
    rng = np.random.default_rng(seed)
    load = rng.uniform(1, 2, rounds)

    def bursts(base: float) -> tuple[tuple[float, ...], ...]:
        times = base * load[:, None] * np.exp(noise * rng.standard_normal((rounds, calls)))
        return tuple(map(tuple, times.tolist()))

    return Paired(bursts(0.010 * ratio * speed), bursts(0.010))


def test_median_and_throughput_are_of_all_calls() -> None:
    measured = summarise(8, 2, [Paired(((0.01, 0.02), (0.03,)), ((0.1, 0.1), (0.1,)))])
    assert measured.median_ms == pytest.approx(20)
    assert measured.throughput == pytest.approx(8 / 0.02)
    assert (measured.batch, measured.threads, measured.n, measured.processes) == (8, 2, 2, 1)


def test_the_ratio_is_to_eager_in_the_same_round() -> None:
    eager = ((1.0,), (2.0,), (4.0,))
    measured = summarise(1, 1, [Paired(((0.5,), (1.0,), (2.0,)), eager)])
    assert (measured.ratio, measured.ratio_low, measured.ratio_high) == pytest.approx((0.5, 0.5, 0.5))


def test_the_ninetieth_percentile_needs_enough_calls() -> None:
    few = summarise(1, 1, [process(0, rounds=MIN_FOR_P90 // 4 - 1)])
    enough = summarise(1, 1, [process(0, rounds=MIN_FOR_P90 // 4)])
    assert few.p90_ms is None
    assert enough.p90_ms is not None
    assert enough.p90_ms > enough.median_ms


def test_one_round_or_no_eager_gives_no_ratio() -> None:
    alone = summarise(1, 1, [Paired(((0.01,), (0.01,)), ())])
    once = summarise(1, 1, [Paired(((0.01,),), ((0.02,),))])
    assert (alone.ratio, alone.ratio_low, alone.ratio_high) == (None, None, None)
    assert (once.ratio, once.ratio_low, once.ratio_high) == (None, None, None)


def test_load_that_both_feel_cancels_out_of_the_ratio() -> None:
    measured = summarise(1, 1, [process(0, noise=0.001)])
    assert measured.ratio == pytest.approx(0.5, rel=2e-3)
    assert measured.ratio_low is not None
    assert measured.ratio_high is not None
    assert measured.ratio_high - measured.ratio_low < 0.005


def test_the_interval_holds_the_true_ratio_about_as_often_as_it_says() -> None:
    held = 0
    for seed in range(40):
        measured = summarise(1, 1, [process(2 * seed), process(2 * seed + 1)], seed=seed)
        assert measured.ratio_low is not None
        assert measured.ratio_high is not None
        held += measured.ratio_low <= 0.5 <= measured.ratio_high
    assert held >= 34


def test_a_process_that_is_slower_for_its_whole_life_widens_the_interval() -> None:
    alike = summarise(1, 1, [process(0), process(1)])
    apart = summarise(1, 1, [process(0), process(1, speed=1.3)])
    assert alike.ratio_low is not None
    assert alike.ratio_high is not None
    assert apart.ratio_low is not None
    assert apart.ratio_high is not None
    assert apart.ratio_high / apart.ratio_low > 1.25 > alike.ratio_high / alike.ratio_low
    assert apart.ratio_low < 0.51
    assert apart.ratio_high > 0.64


def test_a_seed_fixes_the_interval() -> None:
    assert summarise(1, 1, [process(0)], seed=3) == summarise(1, 1, [process(0)], seed=3)


def test_a_slowdown_moves_the_whole_interval_and_noise_alone_does_not() -> None:
    before, noisy, slower = (summarise(1, 1, [each]) for each in (process(0), process(1), process(2, ratio=0.75)))
    assert before.ratio_low is not None
    assert before.ratio_high is not None
    assert noisy.ratio_low is not None
    assert noisy.ratio_low < before.ratio_high
    assert slower.ratio_low is not None
    assert slower.ratio_low > before.ratio_high
