from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from parity.compare.decisions.statistics import (
    bootstrap,
    bootstrap_mean,
    effective,
    needed_by_width,
    needed_for,
    paired_difference,
    wilson,
)


@pytest.mark.parametrize(("successes", "n"), [(0, 5), (1, 5), (5, 5), (97, 100), (540, 540), (1, 10_000)])
def test_the_interval_is_the_one_that_scipy_computes(successes: int, n: int) -> None:
    expected = binomtest(successes, n).proportion_ci(0.95, method="wilson")
    assert wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_interval_holds_the_share_lies_within_zero_and_one_and_narrows() -> None:
    for n in (1, 7, 100, 10_000):
        for share in np.linspace(0, 1, 11):
            low, high = wilson(share * n, n)
            assert 0 <= low <= share <= high <= 1
    widths = [high - low for low, high in (wilson(0.9 * n, n) for n in (10, 100, 1000))]
    assert widths == sorted(widths, reverse=True)
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("share", "limit"), [(1.0, 0.98), (0.99, 0.98), (0.9, 0.98), (0.8, 0.98), (0.981, 0.98)])
def test_as_many_decisions_as_are_needed_do_decide_and_half_do_not(share: float, limit: float) -> None:
    def decides(n: float) -> bool:
        low, high = wilson(share * n, n)
        return bool(low >= limit or high < limit)

    needed = needed_for(share, limit)
    assert needed is not None
    assert decides(needed)
    assert not decides(needed / 2)


def test_a_share_at_the_limit_is_never_decided() -> None:
    assert needed_for(0.98, 0.98) is None


def test_the_paired_interval_is_the_one_of_a_published_example() -> None:
    """Newcombe (1998), method 10: 36 agree on yes, 12 and 2 differ, none agrees on no."""
    assert paired_difference(12, 2, 36, 0) == pytest.approx((0.2, 0.0569, 0.3404), abs=5e-5)


def test_the_paired_interval_covers_the_difference_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    shares = (0.85, 0.03, 0.05, 0.07)
    inside = 0
    for both, only_target, only_reference, neither in rng.multinomial(200, shares, size=500).tolist():
        _, low, high = paired_difference(only_target, only_reference, both, neither)
        inside += low <= shares[1] - shares[2] <= high
    assert 0.92 <= inside / 500 <= 0.99


def test_equal_answers_leave_no_difference_and_more_samples_narrow_it() -> None:
    few, many = paired_difference(0, 0, 9, 1), paired_difference(0, 0, 900, 100)
    assert few[0] == many[0] == 0
    assert few[2] - few[1] > many[2] - many[1]
    assert paired_difference(0, 0, 0, 0) == (0.0, -1.0, 1.0)


def test_the_bootstrap_of_a_mean_is_as_wide_as_its_standard_error_and_always_the_same() -> None:
    values = np.random.default_rng(1).standard_normal(400)
    interval = bootstrap_mean(values)
    assert interval is not None
    assert interval[1] - interval[0] == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.15)
    assert interval == bootstrap_mean(values)


def test_one_sample_has_no_interval() -> None:
    assert bootstrap_mean(np.ones(1)) is None
    assert bootstrap(lambda drawn: drawn.sum(axis=1).astype(float), 0) is None


def test_as_many_samples_as_a_width_needs_do_decide() -> None:
    needed = needed_by_width(0.95, 0.90, 1.0, 0.94, 10)
    assert needed == 250
    assert needed_by_width(0.95, 0.90, 1.0, 0.95, 10) is None


def test_decisions_that_err_together_are_worth_one_a_sample() -> None:
    sizes = np.full(20, 100.0)
    together = sizes.copy()
    together[0] = 0
    assert effective(sizes, together) == pytest.approx(20, rel=0.1)
    assert effective(np.ones(7), np.ones(7)) == 7
