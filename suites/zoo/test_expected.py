"""A verdict that changes is told, whichever way it changes and for whatever reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from parity.records import Record, Stage, Symptom, Verdict
from suites.zoo.expected import Expected, disagreement, expected

PASSED = Record(target="onnx@onnxruntime", verdict=Verdict.PASS, stage=Stage.DONE, symptom=Symptom.OK)
REFUSED = Record(
    target="export@torch", verdict=Verdict.FAIL, stage=Stage.EXPORT, symptom=Symptom.EXCEPTION, message="no size 1"
)
PASS = Expected(Verdict.PASS, Stage.DONE, Symptom.OK)
REFUSAL = Expected(Verdict.FAIL, Stage.EXPORT, Symptom.EXCEPTION, says="size 1", because="one is special")


def test_what_was_expected_is_not_told() -> None:
    assert disagreement(PASS, PASSED) is None
    assert disagreement(REFUSAL, REFUSED) is None


@pytest.mark.parametrize(
    ("want", "got"),
    [
        (PASS, REFUSED),
        (REFUSAL, PASSED),
        (PASS, replace(PASSED, verdict=Verdict.INCONCLUSIVE)),
        (REFUSAL, replace(REFUSED, symptom=Symptom.CRASH)),
        (REFUSAL, replace(REFUSED, stage=Stage.RUN)),
        (REFUSAL, replace(REFUSED, message="no such operator")),
    ],
    ids=["worse", "better", "undecided", "another symptom", "another stage", "another reason"],
)
def test_a_change_in_either_direction_is_told_with_both_sides(want: Expected, got: Record) -> None:
    told = disagreement(want, got)
    assert told is not None
    assert f"was {want.verdict} ({want.stage}/{want.symptom})" in told
    assert f"is {got.verdict} ({got.stage}/{got.symptom})" in told
    assert want.because in told


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ('"onnx@onnxruntime" = "fail"', "`because` does not say why"),
        ('"onnx@onnxruntime" = "passed"', "'passed' is not a valid Verdict"),
        ('"onnx@onnxruntime" = { verdict = "pass", endd = "done/ok" }', "endd"),
        ('"onnx@onnxruntime" = { ended = "done/ok" }', "verdict"),
    ],
)
def test_a_table_that_says_too_little_is_refused(tmp_path: Path, written: str, says: str) -> None:
    table = tmp_path / "expected.toml"
    table.write_text(f"[net]\n{written}\n")
    with pytest.raises(ValueError, match=says):
        expected(table)
