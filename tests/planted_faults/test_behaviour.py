"""How a target behaves: faults are caught with their cause, and healthy twins are not."""

from __future__ import annotations

import pytest

from parity.records import BehaviourResult, Record, Verdict
from tests.end_to_end.background import Background


def of(record: Record, kind: str) -> list[BehaviourResult]:
    return [each for each in record.behaviour if each.kind == kind]


def test_a_batch_size_that_became_a_constant_is_named_from_the_graph_itself(runs: Background) -> None:
    assert runs["static"].status == 1
    record = runs["static"].record("static.onnx")
    (found,) = of(record, "constant_dimension")
    assert (found.verdict, found.message) == (Verdict.FAIL, "input x: N became the constant 2")
    assert record.verdict is Verdict.FAIL


def test_a_dynamic_dimension_of_another_name_is_dynamic(runs: Background) -> None:
    record = runs["static"].record("other-name.onnx")
    assert [each.verdict for each in of(record, "constant_dimension")] == [Verdict.PASS]
    assert record.verdict is Verdict.PASS, record


@pytest.mark.parametrize("target", ["export", "onnx-torchscript"])
def test_what_parity_exports_itself_is_looked_at_as_well(runs: Background, target: str) -> None:
    assert [each.verdict for each in of(runs["no fault"].record(target), "constant_dimension")] == [Verdict.PASS]


def test_a_module_that_counts_its_calls_does_not_repeat_itself(runs: Background) -> None:
    record = runs["static"].record("counts.ts.pt")
    (found,) = of(record, "repeatability")
    assert found.verdict is Verdict.FAIL
    assert "the same input is answered differently" in record.message
    assert "state is kept between calls" in record.message


def test_dropout_that_was_left_on_is_named_as_the_cause(runs: Background) -> None:
    record = runs["faulty"].record("dropout.ts.pt")
    (found,) = of(record, "repeatability")
    assert found.verdict is Verdict.FAIL
    assert "a random layer was left on" in record.message


@pytest.mark.parametrize("artifact", ["healthy.onnx", "healthy.ts.pt", "healthy-int8.onnx"])
def test_healthy_artifacts_repeat_themselves_and_answer_alone_as_in_a_batch(runs: Background, artifact: str) -> None:
    record = runs["healthy"].record(artifact)
    assert [each.verdict for each in of(record, "repeatability")] == [Verdict.PASS]
    (alone,) = of(record, "batch_invariance")
    assert alone.verdict is (None if artifact == "healthy-int8.onnx" else Verdict.PASS)


def test_a_model_that_looks_at_its_whole_batch_is_noted_and_no_target_held_to_invariance(runs: Background) -> None:
    (note,) = (note for note in runs["mixes"].report.reference.notes if "mixes the samples" in note)
    assert "batch invariance" in note
    record = runs["mixes"].record("trace")
    assert not of(record, "batch_invariance")
    assert record.verdict is Verdict.PASS, record


def test_a_shape_that_the_model_refuses_and_a_trace_answers_is_caught(runs: Background) -> None:
    assert runs["checks"].status == 1
    record = runs["checks"].record("trace")
    found = {each.name: each.verdict for each in of(record, "excluded_shape")}
    assert found == {"x [2, 13]": Verdict.PASS, "x [2, 1]": Verdict.FAIL}
    assert record.message == "x [2, 1]: answers an input that the model refuses"
    assert {each.verdict for each in record.numeric} == {each.verdict for each in record.shapes} == {Verdict.PASS}


def test_a_shape_that_both_refuse_passes(runs: Background) -> None:
    record = runs["checks"].record("script")
    assert {each.verdict for each in of(record, "excluded_shape")} == {Verdict.PASS}
    assert record.verdict is Verdict.PASS
