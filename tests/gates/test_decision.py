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
