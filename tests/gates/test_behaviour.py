"""What a target may do otherwise, and what it may not."""

from __future__ import annotations

from typing import Any

import pytest

from parity.gates.behaviour import judge_behaviour, judge_declared
from parity.models.spec import Limits
from parity.records import BehaviourFinding, Verdict

APART: dict[str, Any] = {"error": 1e-3, "detail": "the answers differ by 0.001 twice", "worst_sample": 4}


def judged(kind: str, *, quantized: bool = False, **facts: Any) -> tuple[Verdict | None, str]:
    found = judge_behaviour(BehaviourFinding(kind=kind, name="y", **facts), Limits(ratio=10.0), quantized=quantized)
    return found.verdict, found.message or ""


@pytest.mark.parametrize("quantized", [False, True])
def test_the_same_input_gets_the_same_answer_at_any_precision(*, quantized: bool) -> None:
    assert judged("repeatability", quantized=quantized, ratio=9.9, **APART)[0] is Verdict.PASS
    verdict, message = judged("repeatability", quantized=quantized, ratio=1e4, **APART)
    assert verdict is Verdict.FAIL
    assert "y: the same input is answered differently: sample 4" in message
    assert "(1e+04 floors, 10 are allowed)" in message
    assert "a random layer was left on, or state is kept" in message


def test_integers_that_differ_and_calls_that_raise_fail_without_any_ratio() -> None:
    assert judged("repeatability", mismatched=2, detail="2 values differ")[0] is Verdict.FAIL
    assert judged("repeatability", detail="the first input raises")[0] is Verdict.FAIL
    assert judged("repeatability")[0] is Verdict.PASS


def test_what_long_sums_may_cost_is_no_other_answer() -> None:
    assert judged("repeatability", ratio=50.0, allowance=1e-2, **APART)[0] is Verdict.PASS


def test_a_sample_in_a_batch_may_be_as_far_as_two_answers_may_be_apart() -> None:
    assert judged("batch_invariance", ratio=19.0, **APART)[0] is Verdict.PASS
    verdict, message = judged("batch_invariance", ratio=21.0, **APART)
    assert verdict is Verdict.FAIL
    assert "depends on its batch" in message


def test_how_much_a_quantized_answer_depends_on_its_batch_is_information() -> None:
    verdict, message = judged("batch_invariance", quantized=True, ratio=1e5, sqnr_db=31.0, **APART)
    assert verdict is None
    assert "an SQNR of 31.0 dB" in message
    assert judged("batch_invariance", quantized=True, ratio=0.0) == (None, "")


def test_a_constant_dimension_fails_and_none_passes() -> None:
    wrong = BehaviourFinding(kind="constant_dimension", name="input tokens", detail="T became the constant 7")
    right = BehaviourFinding(kind="constant_dimension", name="N, T")
    assert [(each.verdict, each.message) for each in judge_declared([wrong, right])] == [
        (Verdict.FAIL, "input tokens: T became the constant 7"), (Verdict.PASS, None),
    ]  # fmt: skip


def test_a_doubtful_match_decides_nothing_and_is_said() -> None:
    finding = BehaviourFinding(kind="matched", name="inputs", detail="the inputs 'a', 'b' were taken for …")
    result = judge_behaviour(finding, Limits(), quantized=False)
    assert (result.verdict, result.message) == (None, finding.detail)
