from __future__ import annotations

import math

import pytest

from parity.gates.latency import Baseline, grown, judge_latency
from parity.models.spec import Limits
from parity.records import LatencyMeasurement, Verdict

LIMITS = Limits(latency=1.10)


def measured(ratio: float | None, low: float | None, high: float | None) -> LatencyMeasurement:
    return LatencyMeasurement(
        batch=8,
        threads=1,
        median_ms=10.0,
        throughput=800.0,
        n=20,
        processes=2,
        ratio=ratio,
        ratio_low=low,
        ratio_high=high,
    )


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.48, 0.52, "pass"),
        (0.30, 0.31, "pass"),
        (0.50, 0.55, "pass"),
        (0.54, 0.56, "inconclusive"),
        (0.30, 0.90, "inconclusive"),
        (0.56, 0.60, "fail"),
        (5.00, 6.00, "fail"),
    ],
)
def test_the_whole_interval_has_to_lie_on_one_side_of_what_is_allowed(low: float, high: float, verdict: str) -> None:
    result = judge_latency(measured((low + high) / 2, low, high), Baseline(0.5), LIMITS, "")
    assert result.verdict.value == verdict
    assert result.baseline == 0.5
    assert result.limit == pytest.approx(0.55)
    assert (result.message is None) == (verdict == "pass")


def test_a_slower_target_fails_with_what_is_allowed_and_what_came() -> None:
    result = judge_latency(measured(0.8, 0.75, 0.85), Baseline(0.5), LIMITS, "")
    assert result.message == (
        "0.8 times eager's time, 1.6 (1.5 to 1.7) times the golden's 0.5; 1.1 times are allowed"
    )  # fmt: skip
    assert (result.growth, result.growth_low, result.growth_high) == pytest.approx((1.6, 1.5, 1.7))


def test_an_interval_too_wide_to_tell_says_so_and_what_would() -> None:
    message = judge_latency(measured(0.5, 0.2, 0.9), Baseline(0.5), LIMITS, "").message
    assert message is not None
    assert message.endswith("2 processes do not tell: a larger latency.max_seconds or a quieter machine would")


def test_a_machine_that_was_disturbed_is_named_as_the_reason() -> None:
    message = judge_latency(measured(0.5, 0.2, 0.9), Baseline(0.5), LIMITS, "", ["others used 80 %"]).message
    assert message is not None
    assert message.endswith("2 processes do not tell: others used 80 %")


def test_without_a_golden_it_is_skipped_with_the_reason() -> None:
    result = judge_latency(measured(9.0, 8.0, 10.0), None, LIMITS, "no golden was given")
    assert (result.verdict, result.message, result.limit) == (Verdict.SKIP, "no golden was given", None)


def test_without_an_interval_it_is_inconclusive() -> None:
    assert judge_latency(measured(None, None, None), Baseline(0.5), LIMITS, "").verdict is Verdict.INCONCLUSIVE


def test_the_measurement_is_kept_as_it_was() -> None:
    before = measured(0.8, 0.75, 0.85)
    result = judge_latency(before, Baseline(0.5), LIMITS, "")
    assert all(getattr(result, name) == value for name, value in vars(before).items())


def test_a_golden_that_was_itself_uncertain_does_not_fail_what_its_own_interval_allows() -> None:
    """The same ratio fails against a golden that was measured well, and is undecided against a noisy one."""
    slower = measured(0.6, 0.58, 0.62)
    assert judge_latency(slower, Baseline(0.5, low=0.49, high=0.51), LIMITS, "").verdict is Verdict.FAIL
    assert judge_latency(slower, Baseline(0.5, low=0.44, high=0.56), LIMITS, "").verdict is Verdict.INCONCLUSIVE


def test_what_passes_against_a_sure_golden_is_open_against_an_unsure_one() -> None:
    same = measured(0.5, 0.48, 0.52)
    assert judge_latency(same, Baseline(0.5, low=0.49, high=0.51), LIMITS, "").verdict is Verdict.PASS
    assert judge_latency(same, Baseline(0.5, low=0.40, high=0.62), LIMITS, "").verdict is Verdict.INCONCLUSIVE


def test_both_errors_add_in_quadrature_on_the_logarithmic_scale() -> None:
    growth = grown(measured(1.0, math.exp(-0.03), math.exp(0.04)), Baseline(1.0, math.exp(-0.03), math.exp(0.04)))
    assert growth is not None
    assert math.log(growth.low) == pytest.approx(-0.05)
    assert math.log(growth.high) == pytest.approx(0.05)
