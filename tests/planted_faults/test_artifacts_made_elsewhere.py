"""Artifacts that are given with --artifact: each fault is caught, and its healthy twin passes."""

from __future__ import annotations

import pytest

from parity.records import Record, Stage, Symptom, Verdict
from tests.end_to_end.background import Background


def failed_to_compare(record: Record) -> str:
    """The message of a record that ran and disagreed."""
    outcome = (record.verdict, record.stage, record.symptom)
    assert outcome == (Verdict.FAIL, Stage.COMPARE, Symptom.MISMATCH), record
    assert record.message
    return record.message


def passed(record: Record) -> None:
    assert (record.verdict, record.stage, record.symptom) == (Verdict.PASS, Stage.DONE, Symptom.OK), record


@pytest.mark.parametrize("artifact", ["weight.onnx", "weight.ts.pt"])
def test_one_weight_that_is_one_percent_too_large_is_caught(runs: Background, artifact: str) -> None:
    assert runs["faulty"].status == 1
    message = failed_to_compare(runs["faulty"].record(artifact))
    assert "floors" in message
    assert "10 are allowed" in message
    assert "worst in sample" in message


@pytest.mark.parametrize("artifact", ["epsilon.onnx", "epsilon.ts.pt"])
def test_a_normalisation_epsilon_that_is_a_hundred_times_too_large_is_caught(runs: Background, artifact: str) -> None:
    assert runs["faulty"].status == 1
    assert "floors" in failed_to_compare(runs["faulty"].record(artifact))


@pytest.mark.parametrize("artifact", ["dropout.onnx", "dropout.ts.pt"])
def test_dropout_that_was_left_on_is_caught(runs: Background, artifact: str) -> None:
    assert runs["faulty"].status == 1
    assert "floors" in failed_to_compare(runs["faulty"].record(artifact))


def test_a_quantized_artifact_with_wrecked_scales_is_caught_by_its_decisions(runs: Background) -> None:
    assert runs["faulty"].status == 1
    record = runs["faulty"].record("wrecked-int8.onnx")
    message = failed_to_compare(record)
    (agreement,) = (each for each in record.decisions if each.metric == "top1_agreement")
    assert agreement.verdict is Verdict.FAIL
    assert agreement.flips
    assert agreement.high is not None
    assert agreement.high < 0.98
    assert "top-1 agreement" in message
    assert "0.98 is asked for" in message


@pytest.mark.parametrize("artifact", ["healthy.onnx", "healthy.ts.pt", "healthy-int8.onnx"])
def test_the_same_artifacts_without_a_fault_pass(runs: Background, artifact: str) -> None:
    assert runs["healthy"].status == 0, runs["healthy"].text
    passed(runs["healthy"].record(artifact))


def test_an_artifact_made_elsewhere_is_judged_at_every_batch_size_and_nothing_is_exported(runs: Background) -> None:
    report = runs["healthy"].report
    assert [record.target for record in report.records] == [
        "healthy.onnx@onnxruntime", "healthy.ts.pt@torchscript", "healthy-int8.onnx@onnxruntime"
    ]  # fmt: skip
    assert all([shape.batch for shape in record.shapes] == [1, 2, 3, 8, 32] for record in report.records)
    assert all(record.export is not None and record.export.seconds == 0 for record in report.records)


def test_outputs_in_another_order_are_caught(runs: Background) -> None:
    assert runs["faulty pairs"].status == 1
    record = runs["faulty pairs"].record("swapped.ts.pt")
    assert failed_to_compare(record) == (
        "output_0: order: it holds what output_1 should, and output_1 what output_0 should: they look swapped"
    )
    assert [each.rule for each in record.numeric] == ["order", "order", "exact"]
    assert [each.verdict for each in record.numeric] == [Verdict.FAIL, Verdict.FAIL, Verdict.PASS]


def test_an_output_of_another_dtype_is_caught_and_both_are_named(runs: Background) -> None:
    assert runs["faulty pairs"].status == 1
    message = failed_to_compare(runs["faulty pairs"].record("narrowed.ts.pt"))
    assert "int32, not int64" in message


def test_nan_where_the_reference_has_a_number_is_caught(runs: Background) -> None:
    assert runs["faulty pairs"].status == 1
    message = failed_to_compare(runs["faulty pairs"].record("not-a-number.ts.pt"))
    assert "nonfinite" in message
    assert "nan where the reference has" in message


def test_an_output_that_is_missing_is_caught_and_named(runs: Background) -> None:
    assert runs["faulty pairs"].status == 1
    record = runs["faulty pairs"].record("missing.ts.pt")
    message = failed_to_compare(record)
    (missing,) = (each for each in record.numeric if each.rule == "missing")
    assert missing.output in message
    assert "the target returned" in message


def test_an_integer_output_that_differs_is_caught_and_counted(runs: Background) -> None:
    assert runs["faulty pairs"].status == 1
    record = runs["faulty pairs"].record("off-by-one.ts.pt")
    assert "values differ, by 1 at most" in failed_to_compare(record)


def test_the_same_outputs_without_a_fault_pass(runs: Background) -> None:
    assert runs["healthy pair"].status == 0, runs["healthy pair"].text
    passed(runs["healthy pair"].record("healthy-pair.ts.pt"))


@pytest.mark.parametrize("name", ["half-inside.onnx", "half.onnx"])
def test_a_float16_artifact_is_held_against_what_float16_costs_eager(runs: Background, name: str) -> None:
    record = runs["halves"].record(name)
    assert (record.verdict, record.precision) == (Verdict.PASS, "float16"), record
    floor = record.numeric[0].floor
    assert floor is not None
    assert floor >= 2.0**-11, "the unit of round-off of float16"


def test_a_fault_in_a_float16_artifact_is_caught(runs: Background) -> None:
    record = runs["halves"].record("half-scaled.onnx")
    assert (record.verdict, record.symptom) == (Verdict.FAIL, Symptom.MISMATCH), record
