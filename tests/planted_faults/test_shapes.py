"""Shapes that the signature allows and no held-out sample has: faults there are caught, and nothing else is."""

from __future__ import annotations

from parity.records import Stage, Symptom, Verdict
from tests.end_to_end.background import Background


def test_a_length_that_tracing_baked_in_is_caught_where_every_sample_has_the_same(runs: Background) -> None:
    assert runs["folds length"].status == 1
    record = runs["folds length"].record("trace")
    assert (record.verdict, record.stage) == (Verdict.FAIL, Stage.COMPARE)
    assert all(result.verdict is Verdict.PASS for result in record.numeric), "every held-out sample has the length"
    sized = [shape for shape in record.shapes if shape.sizes]
    assert sized
    assert all(shape.verdict is Verdict.FAIL for shape in sized)
    alone = [shape for shape in sized if shape.sizes == {"T": 1}]
    assert {shape.symptom for shape in alone} == {Symptom.MISMATCH}, "it answers, and wrongly"
    assert "T=" in record.message


def test_the_same_length_passes_where_it_is_compiled(runs: Background) -> None:
    record = runs["folds length"].record("script")
    assert record.verdict is Verdict.PASS, record
    swept = {(shape.batch, shape.sizes["T"]) for shape in record.shapes if shape.sizes}
    assert {size for _, size in swept} >= {1, 2, 16}
    assert {batch for batch, _ in swept} == {1, 3}


def test_a_size_that_the_model_itself_refuses_is_noted_and_held_against_no_target(runs: Background) -> None:
    run = runs["needs two"]
    (note,) = (note for note in run.report.reference.notes if "does not run" in note)
    assert "at T=1: ValueError: a sequence has two values at least" in note
    assert "`T in 2..16`" in note
    skipped = [shape for shape in run.record("script").shapes if shape.verdict is Verdict.SKIP]
    assert {shape.shape for shape in skipped} == {"1, T=1", "3, T=1", "64"}
    assert all(shape.verdict in (Verdict.PASS, Verdict.SKIP) for shape in run.record("script").shapes)


def test_a_batch_size_that_the_signature_rules_out_is_a_skip_that_says_so(runs: Background) -> None:
    (shape,) = (shape for shape in runs["needs two"].record("script").shapes if shape.batch == 64)
    assert (shape.verdict, shape.symptom) == (Verdict.SKIP, Symptom.UNSUPPORTED)
    assert shape.message == "the signature allows N in 1..32"
