"""Evidence that cannot decide is inconclusive, with what is missing; it never passes."""

from __future__ import annotations

import re

import numpy as np

from parity.records import Stage, Symptom, Verdict
from tests.end_to_end.background import Background


def test_too_few_samples_for_a_quantized_artifact_say_how_many_would_do(runs: Background) -> None:
    assert runs["few"].status == 3, runs["few"].text
    record = runs["few"].record("healthy-int8.onnx")
    assert record.verdict is Verdict.INCONCLUSIVE
    needed = re.search(r"over 20 decisions, .* (\d+) decisions at this rate would decide", record.message)
    assert needed is not None, record.message
    assert 189 <= int(needed[1]) <= 200, "189 without a flip is where Wilson's interval comes to lie above 0.98"


def test_a_model_that_is_random_in_eval_mode_is_named_as_such_and_not_judged(runs: Background) -> None:
    assert runs["random"].status == 3, runs["random"].text
    record = runs["random"].record("script")
    assert record.verdict is Verdict.INCONCLUSIVE
    assert "the reference is not deterministic" in record.message
    assert "random layer" in record.message
    verdicts = [each.verdict for each in record.numeric] + [each.verdict for each in record.shapes]
    assert Verdict.FAIL not in verdicts, "nothing is judged against it"
    assert runs["random"].report.reference.unstable


def test_a_model_that_answers_the_same_to_everything_decides_nothing(runs: Background) -> None:
    assert runs["constant"].status == 3, runs["constant"].text
    record = runs["constant"].record("trace")
    assert record.verdict is Verdict.INCONCLUSIVE
    assert "the same for every sample" in record.message


def test_an_ill_conditioned_model_is_named_and_passes_where_a_target_agrees_with_eager(runs: Background) -> None:
    assert runs["cancels"].record("trace").verdict is Verdict.PASS
    (note,) = runs["cancels"].report.reference.notes
    assert re.fullmatch(r"ill-conditioned: eager itself is good to 0\.00\d+ in 'output'", note), note


def test_a_target_within_the_noise_of_an_ill_conditioned_model_is_undecided(runs: Background) -> None:
    record = runs["cancels"].record("cancels-less.ts.pt")
    assert record.verdict is Verdict.INCONCLUSIVE
    assert "more than half of the digits are noise" in record.message


def test_a_fault_beyond_the_noise_of_an_ill_conditioned_model_is_caught_with_its_worst_sample(
    runs: Background,
) -> None:
    record = runs["cancels"].record("cancels-wrongly.ts.pt")
    assert (record.verdict, record.symptom) == (Verdict.FAIL, Symptom.MISMATCH), record
    (path,) = record.worst_samples
    with np.load(runs["cancels"].out.parent / path) as held:
        assert np.allclose(held["target.output"], 1.25 * held["eager.output"], rtol=1e-3)
        assert held["input.x"].shape == (12,)


def test_a_model_in_training_mode_is_judged_in_eval_mode_and_that_is_noted(runs: Background) -> None:
    assert runs["no fault"].status == 0, runs["no fault"].text
    assert any("eval mode is enforced" in note for note in runs["no fault"].report.model.notes)


def test_an_exporter_that_does_not_apply_is_a_skip_with_its_reason(runs: Background) -> None:
    assert runs["nothing to quantize"].status == 0, runs["nothing to quantize"].text
    record = runs["nothing to quantize"].record("int8-dynamic")
    assert (record.verdict, record.stage, record.symptom) == (Verdict.SKIP, Stage.EXPORT, Symptom.UNSUPPORTED)
    assert "no linear or recurrent layer" in record.message
    assert runs["nothing to quantize"].record("trace").verdict is Verdict.PASS
