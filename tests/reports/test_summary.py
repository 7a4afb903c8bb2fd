"""The verdict as a sentence, and which of many findings stands in the one row."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from parity.records import BehaviourResult, ShapeResult, Stage, Symptom, Verdict
from parity.reports import html, markdown, summary, terminal
from parity.reports.speed.places import Place, shared

from . import examples


def test_the_sentence_says_what_was_judged_on_what_and_what_failed() -> None:
    assert summary.sentence(examples.nine_targets()) == (
        "FAIL: resnet18, judged on 540 held-out samples from data/heldout.npz: of 9 targets, "
        "3 failed (onnx@openvino, aoti@torch, onnx-torchscript@onnxruntime), "
        "2 inconclusive (fx-int8@torchscript, torch-export@torch), 3 passed, 1 skipped"
    )


@pytest.mark.parametrize("verdict", list(Verdict))
def test_the_sentence_starts_with_the_verdict_of_the_report(verdict: Verdict) -> None:
    report = examples.report(examples.record("onnx@onnxruntime", verdict=verdict))
    assert summary.sentence(report).startswith(f"{verdict.value.upper()}: ")
    assert summary.PHRASES[verdict] in summary.outcome(report)


def test_random_inputs_are_called_weak_evidence() -> None:
    report = examples.report(examples.record("onnx@onnxruntime"))
    samples = type(report.samples)(source="seed 0", n=1, sha256="", synthetic=True)
    told = summary.subject(examples.report(*report.records, samples=samples))
    assert "1 synthetic held-out sample from seed 0 (random inputs: weak evidence)" in told
    drawn = replace(samples, source="synthetic")
    assert "1 synthetic held-out sample (random" in summary.subject(examples.report(*report.records, samples=drawn))


@pytest.mark.parametrize("synthetic", [True, False])
def test_every_report_says_that_random_inputs_are_weak_evidence_and_only_of_those(*, synthetic: bool) -> None:
    made = examples.report(examples.record("onnx@onnxruntime"))
    report = examples.report(*made.records, samples=replace(made.samples, synthetic=synthetic))
    printed = io.StringIO()
    terminal.print_report(report, Console(file=printed, width=200))
    for text in (printed.getvalue(), html.render(report), markdown.render(report)):
        assert ("random inputs: weak evidence" in text) is synthetic


def test_the_row_shows_the_failing_output_not_the_largest_passing_ratio() -> None:
    failing = examples.numeric(None, output="labels", rule="dtype", sqnr_db=None, verdict=Verdict.FAIL)
    record = examples.record("onnx@onnxruntime", numeric=(examples.numeric(9.0), failing))
    assert summary.row(record, None).error == ("dtype",)


def test_latency_is_shown_at_one_batch_for_all_and_says_so_where_it_is_another() -> None:
    only_eight = examples.latency(0.5)[1:2]
    report = examples.report(examples.record("a@b"), examples.record("c@d"), examples.record("e@f", latency=only_eight))
    place = shared(report)
    assert place == Place(batch=8, threads=2)
    other = Place(batch=32, threads=2)
    told = ("0.5", None), ("0.48..0.52", None)
    assert summary.row(report.records[2], other).latency == (*told, ("batch 8", None))
    assert summary.row(report.records[2], place).latency == told


def test_a_row_of_a_cell_that_ended_early_says_where_and_shows_nothing_it_has_not() -> None:
    row = summary.row(examples.broken("aoti@torch", Stage.RUN, Symptom.CRASH, "died"), None)
    assert row.ended == "run/crash"
    absent = (("n/a", None),)
    assert (row.error, row.decision, row.shapes, row.latency, row.size) == (("n/a",), ("n/a",), (), absent, absent)


def test_reasons_add_the_messages_of_results_that_the_record_does_not_repeat() -> None:
    record = examples.nine_targets().records[2]
    assert summary.reasons(record) == (record.message, "output labels: 3 of 540 integers differ")


def test_the_row_has_ratio_and_limit_and_under_it_error_and_floor() -> None:
    row = summary.row(examples.record("onnx@onnxruntime", numeric=(examples.numeric(2.0),)), None)
    assert row.error == ("2 / 10", "1.1e-06 / 5.6e-07")


def test_a_waived_target_is_named_in_the_sentence_and_not_among_the_skipped() -> None:
    report = examples.report(examples.record("trace@torchscript"), examples.waived())
    assert summary.outcome(report) == "of 2 targets, 1 passed, 1 waived (onnx@onnxruntime)"
    assert report.verdict is Verdict.PASS


def test_a_waiver_that_no_longer_covers_the_failure_is_no_excuse() -> None:
    failing = examples.waived(verdict=Verdict.FAIL)
    assert "1 failed (onnx@onnxruntime)" in summary.outcome(examples.report(failing))


def sized(verdict: Verdict, size: int) -> ShapeResult:
    message = f"size {size} is wrong" if verdict is Verdict.FAIL else None
    return ShapeResult(batch=1, sizes={"T": size}, symptom=Symptom.OK, verdict=verdict, message=message)


def test_sizes_of_other_symbols_are_counted_by_verdict_and_the_first_that_fail_are_told() -> None:
    failing = [sized(Verdict.FAIL, size) for size in range(5)]
    plain = examples.shapes()
    record = examples.record("trace@torchscript", shapes=(*plain, *failing, sized(Verdict.PASS, 7)))
    shown = summary.row(record, None).shapes
    assert shown[len(plain) :] == (("+5 sizes", Verdict.FAIL), ("+1 size", Verdict.PASS))
    assert summary.reasons(record)[-4:] == (
        "batch 1, T=0: size 0 is wrong", "batch 1, T=1: size 1 is wrong", "batch 1, T=2: size 2 is wrong",
        "and 2 more sizes of the sweep: all are in the details",
    )  # fmt: skip


def test_a_behaviour_that_fails_is_told_with_its_kind() -> None:
    wrong = BehaviourResult(kind="batch_invariance", name="y", verdict=Verdict.FAIL, message="y: it depends")
    assert "behaviour (batch invariance): y: it depends" in summary.reasons(examples.record("a@b", behaviour=(wrong,)))
