"""The golden gate: every planted fault beside its healthy twin."""

from __future__ import annotations

from typing import Any

import pytest

from parity.gates.golden import judge_golden
from parity.models.spec import Limits
from parity.records import GoldenFinding, GoldenResult, NumericFinding, Verdict

LIMITS = Limits()
WEIGHTS = GoldenFinding(kind="model", name="weights", golden="aaaa", today="bbbb")
TORCH = GoldenFinding(kind="toolchain", name="torch", golden="2.6.0", today="2.7.0")


def _floats(ratio: float, **changed: Any) -> GoldenFinding:
    given: dict[str, Any] = {
        "output": "y", "rule": "floor", "error": ratio * 1e-7, "floor": 1e-7, "ratio": ratio, "allowance": 1e-8,
        "measure": "max/sample", "worst_sample": 4, "n": 20,
    }  # fmt: skip
    return GoldenFinding(kind="output", name="y", numeric=NumericFinding(**{**given, **changed}))


def _target(now: float | None, then: float | None) -> GoldenFinding:
    return GoldenFinding(kind="target", name="onnx@onnxruntime", ratio=now, golden_ratio=then)


def _judge(*findings: GoldenFinding) -> GoldenResult:
    return judge_golden(findings, LIMITS, "net")[0]


@pytest.mark.parametrize(
    ("finding", "verdict"),
    [
        (_floats(1.0), Verdict.PASS),
        (_floats(10.0), Verdict.PASS),
        (_floats(10.1), Verdict.FAIL),
        (_floats(50.0, allowance=6e-6), Verdict.PASS),
        (_floats(50.0, allowance=4e-6), Verdict.FAIL),
        (_floats(1.0, constant=True), Verdict.PASS),
        (_floats(float("inf")), Verdict.FAIL),
    ],
)
def test_floats_are_held_to_the_floor_and_the_allowance_for_long_sums(finding: GoldenFinding, verdict: Verdict) -> None:
    assert _judge(finding).verdict is verdict


def test_the_limit_is_the_models_own() -> None:
    assert judge_golden([_floats(15.0)], Limits(ratio=20.0), "net")[0].verdict is Verdict.PASS


@pytest.mark.parametrize(("mismatched", "verdict"), [(0, Verdict.PASS), (1, Verdict.FAIL)])
def test_integers_are_equal(mismatched: int, verdict: Verdict) -> None:
    numeric = NumericFinding(output="y", rule="exact", mismatched=mismatched, max_abs=1.0, n=3)
    assert _judge(GoldenFinding(kind="output", name="y", numeric=numeric)).verdict is verdict


@pytest.mark.parametrize("rule", ["missing", "extra", "dtype", "shape", "nonfinite"])
def test_structural_disagreement_fails_by_name(rule: str) -> None:
    numeric = NumericFinding(output="y", rule=rule, detail="what is wrong")
    result = _judge(GoldenFinding(kind="output", name="y", numeric=numeric))
    assert result.verdict is Verdict.FAIL
    assert result.message.startswith(f"y: {rule}: what is wrong")


def test_a_failure_names_what_moved_and_the_next_command() -> None:
    message = _judge(_floats(500.0), WEIGHTS, TORCH).message
    assert message == (
        "y: error 5e-05 is 500 floors of 1e-07, 10 are allowed (max/sample, worst in sample 4); moved since the "
        "golden: model (weights aaaa -> bbbb), toolchain (torch 2.6.0 -> 2.7.0); `parity golden accept net` if it "
        "is intended"
    )


def test_a_pass_notes_what_moved() -> None:
    assert _judge(_floats(1.0), TORCH).message.endswith("; moved since: toolchain (torch 2.6.0 -> 2.7.0)")
    assert "moved" not in _judge(_floats(1.0)).message


def test_what_moved_alone_is_information() -> None:
    for finding in (WEIGHTS, TORCH):
        result = _judge(finding)
        assert result.verdict is None
        assert result.moved is True


@pytest.mark.parametrize(("left", "verdict"), [(0, Verdict.INCONCLUSIVE), (1, None)])
def test_no_kept_sample_left_is_inconclusive(left: int, verdict: Verdict | None) -> None:
    result = _judge(GoldenFinding(kind="data", name="samples", golden="a", today="b", n=left, of=9, detail="moved"))
    assert result.verdict is verdict


def test_an_unstable_reference_is_inconclusive() -> None:
    result = _judge(GoldenFinding(kind="reference", name="reference", detail="two runs differ"))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "two runs differ" in result.message


@pytest.mark.parametrize(
    ("now", "then", "moved"),
    [
        (4.0, 1.0, True),
        (2.9, 0.5, False),
        (9.0, 3.5, False),
        (1.0, 1.0, False),
        (None, 1.0, None),
        (1.0, None, None),
    ],
)
def test_a_ratio_has_moved_where_it_grew_and_is_worth_a_word(
    now: float | None,
    then: float | None,
    moved: bool | None,  # noqa: FBT001  # a parameter of the table
) -> None:
    result = _judge(_target(now, then))
    assert result.moved is moved
    assert result.verdict is None


def test_a_target_has_today_beside_the_golden() -> None:
    assert _judge(_target(4.0, 1.0)).message == (
        "onnx@onnxruntime: worst error ratio 4, 1 in the golden: more than 3 times the golden's"
    )
    assert _judge(_target(4.0, None)).message.endswith("worst error ratio 4, absent from the golden")
    assert _judge(_target(None, 1.0)).message.endswith("worst error ratio not measured today, 1 in the golden")
    assert _judge(_target(None, None)).message.endswith("no number today, and none in the golden")
