from __future__ import annotations

import pytest

from parity.compare.decisions.statistics import needed_for, wilson
from parity.gates.decision import judge_decision
from parity.models.spec import Limits
from parity.records import DecisionFinding, DecisionResult, Verdict


def judged(agree: int, n: int, *, precision: str = "int8", limit: float = 0.98, ties: int = 0) -> DecisionResult:
    low, high = wilson(agree, n)
    finding = DecisionFinding(
        output="y", metric="top1_agreement", value=agree / n, low=low, high=high, flips=n - agree, ties=ties, n=n
    )
    return judge_decision(finding, Limits(agreement=limit), precision)


@pytest.mark.parametrize(
    ("agree", "n", "verdict"),
    [
        (540, 540, "pass"),
        (1000, 1000, "pass"),
        (900, 1000, "fail"),
        (20, 20, "inconclusive"),
        (980, 1000, "inconclusive"),
    ],
)
def test_the_whole_interval_has_to_lie_on_one_side_of_the_limit(agree: int, n: int, verdict: str) -> None:
    result = judged(agree, n)
    assert (result.verdict and result.verdict.value, result.limit) == (verdict, 0.98)


def test_a_planted_fault_fails_where_its_healthy_twin_passes() -> None:
    assert judged(999, 1000).verdict is Verdict.PASS
    assert judged(100, 1000).verdict is Verdict.FAIL


def test_too_few_decisions_say_how_many_would_do() -> None:
    message = judged(20, 20).message
    assert message is not None
    assert f"{needed_for(1.0, 0.98)} decisions at this rate would decide" in message
    exactly = judged(98, 100).message
    assert exactly is not None
    assert "no number of samples would decide" in exactly


def test_a_failure_says_how_many_agree_and_how_many_should() -> None:
    assert judged(500, 1000).message == (
        "y: top-1 agreement is 0.5000 (0.4691 to 0.5309) over 1000 decisions, 0.98 is asked for"
    )


def test_a_float_target_without_a_flip_passes_with_any_number_of_samples() -> None:
    assert judged(3, 3, precision="float", ties=1).verdict is Verdict.PASS
    assert judged(3, 3).verdict is Verdict.INCONCLUSIVE


def test_a_float_target_with_flips_is_judged_like_any() -> None:
    assert judged(500, 1000, precision="float").verdict is Verdict.FAIL
    assert judged(19, 20, precision="float").verdict is Verdict.INCONCLUSIVE


def test_accuracy_is_information_without_limit_or_verdict() -> None:
    finding = DecisionFinding(output="y", metric="accuracy", value=0.1, low=0.0, high=0.2, reference=0.9, n=10)
    result = judge_decision(finding, Limits(), "int8")
    assert (result.verdict, result.limit) == (None, None)
    assert result.reference == 0.9


def metric(name: str, value: float, low: float | None, high: float | None, **more: int) -> DecisionFinding:
    return DecisionFinding(output="y", metric=name, value=value, low=low, high=high, **{"n": 40, **more})


LIMITS = Limits(top5=0.9, sequence=0.9, accuracy_drop=0.02)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("top1_agreement", 0.98), ("top5_agreement", 0.9), ("pixel_agreement", 0.98), ("token_agreement", 0.98),
        ("sequence_agreement", 0.9), ("detection_agreement", 0.98), ("neighbour_agreement", 0.9), ("mean_iou", 0.9),
        ("box_iou", 0.9), ("cosine_mean", 0.98), ("accuracy_difference", -0.02), ("mean_iou_difference", -0.02),
        ("token_accuracy_difference", -0.02),
    ],
)  # fmt: skip
def test_every_metric_has_its_own_limit_and_both_sides_of_it(name: str, limit: float) -> None:
    healthy = judge_decision(metric(name, limit + 0.01, limit + 0.005, limit + 0.015), LIMITS, "int8")
    broken = judge_decision(metric(name, limit - 0.1, limit - 0.2, limit - 0.05, flips=3), LIMITS, "int8")
    open_one = judge_decision(metric(name, limit + 0.01, limit - 0.01, limit + 0.015, flips=1), LIMITS, "int8")
    assert healthy.limit == broken.limit == pytest.approx(limit)
    assert (healthy.verdict, broken.verdict, open_one.verdict) == (Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE)
    assert f"{limit:g} is asked for" in (broken.message or "")
    assert "at this rate would decide" in (open_one.message or "")


@pytest.mark.parametrize(
    "name", ["top5_agreement", "sequence_agreement", "accuracy_difference", "cosine_min", "accuracy"]
)
def test_a_metric_without_a_limit_is_information(name: str) -> None:
    result = judge_decision(metric(name, 0.1, 0.0, 0.2), Limits(), "int8")
    assert (result.verdict, result.limit) == (None, None)


def test_one_sample_leaves_a_mean_open_and_says_so() -> None:
    result = judge_decision(metric("mean_iou", 0.99, None, None, n=1, flips=1), Limits(), "int8")
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "in one sample, which says nothing of others" in (result.message or "")


def test_a_metric_that_counts_no_flips_has_to_reach_its_limit_at_any_precision() -> None:
    assert judge_decision(metric("cosine_mean", 0.99, 0.97, 1.0), Limits(), "float").verdict is Verdict.PASS
    assert judge_decision(metric("cosine_mean", 0.99, 0.97, 1.0), Limits(), "int8").verdict is Verdict.INCONCLUSIVE
    assert judge_decision(metric("cosine_mean", 0.5, 0.4, 0.6), Limits(), "float").verdict is Verdict.FAIL


def test_a_limit_inside_a_bootstrapped_interval_says_how_many_samples_would_decide() -> None:
    result = judge_decision(metric("mean_iou", 0.92, 0.88, 0.96, flips=9), Limits(), "int8")
    assert "160 samples at this rate would decide" in (result.message or "")


def binary(kept: int, asked: int, *, precision: str = "int8") -> DecisionResult:
    low, high = wilson(kept, asked) if asked else (None, None)
    value = kept / asked if asked else 1.0
    finding = DecisionFinding(
        output="y", metric="positive_agreement", value=value, low=low, high=high, flips=asked - kept, ties=0, n=asked
    )
    return judge_decision(finding, Limits(), precision)


def test_what_eager_never_says_cannot_be_told_of_a_quantized_target() -> None:
    assert binary(300, 300).verdict is Verdict.PASS
    assert binary(0, 300).verdict is Verdict.FAIL
    never = binary(0, 0)
    assert never.verdict is Verdict.INCONCLUSIVE
    assert never.message == "y: agreement on eager's yes cannot be told: it has none in these samples"
    assert binary(0, 0, precision="float").verdict is Verdict.PASS
