"""What a reader must know besides the verdict is said once, in every report."""

from __future__ import annotations

from dataclasses import replace

from parity.records import BehaviourResult, LatencyMeasurement, LatencyResult, TimingFacts, Verdict
from parity.reports import html, markdown
from parity.reports.remarks import remarks

from . import examples

DOUBT = "the inputs 'x.1', 'x.2' were taken for 'a', 'b' by position alone"
MATCHED = BehaviourResult(kind="matched", name="inputs", detail=DOUBT, message=DOUBT)


def test_an_unstable_reference_is_a_remark() -> None:
    assert "two runs on sample 0 differ by 0.77" in remarks(examples.unstable())[0]


def test_a_doubtful_match_is_a_remark_in_every_report() -> None:
    report = examples.report(examples.record("net.onnx@onnxruntime", behaviour=(MATCHED,)))
    assert remarks(report) == (f"net.onnx@onnxruntime: {DOUBT}",)
    assert "by position alone" in markdown.render(report)
    assert "by position alone" in html.render(report)


def test_a_doubt_that_the_message_has_is_not_repeated() -> None:
    failed = examples.record(
        "net.onnx@onnxruntime", verdict=Verdict.FAIL, message=f"12 floors; {DOUBT}", behaviour=(MATCHED,)
    )
    assert remarks(examples.report(failed)) == ()


def test_sizes_that_ran_eagerly_under_the_name_of_compiled_ones_are_a_remark_in_every_report() -> None:
    limit = "reached: the sizes that came after it ran eagerly"
    compiled = examples.record("compile@torch", runtime={"compiled": "9 graphs", "recompile limit": limit})
    report = examples.report(compiled)
    assert remarks(report) == (f"compile@torch: recompile limit {limit}",)
    assert "ran eagerly" in markdown.render(report)
    assert "ran eagerly" in html.render(report)
    assert remarks(examples.report(replace(compiled, runtime={"compiled": "2 graphs"}))) == ()


def test_targets_without_a_ratio_since_eager_has_no_times_are_a_remark() -> None:
    timed = LatencyResult(
        batch=1, threads=1, median_ms=1.0, throughput=1000.0, n=9, processes=3, verdict=Verdict.SKIP, message="none"
    )
    timing = TimingFacts(seconds=1.0, burst_seconds=0.9, sittings=3)
    report = replace(examples.report(examples.record("onnx@onnxruntime", latency=(timed,))), timing=timing)
    alone = replace(report, reference=replace(report.reference, latency=()))
    assert remarks(alone)[0].startswith("Eager could not be timed")
    measured = LatencyMeasurement(batch=1, threads=1, median_ms=1.0, throughput=1000.0, n=9, processes=3)
    assert remarks(replace(alone, reference=replace(report.reference, latency=(measured,)))) == ()


def test_what_is_wrong_with_the_environment_is_a_remark_in_every_report() -> None:
    report = examples.report(examples.record("onnx@onnxruntime"))
    assert not [each for each in remarks(report) if each.startswith("Environment")]
    warned = replace(report, environment={**report.environment, "warnings": ["two builds of one runtime"]})
    assert remarks(warned)[-1] == "Environment: two builds of one runtime"
    assert "two builds of one runtime" in markdown.render(warned)
    assert html.render(warned).count("two builds of one runtime") == 2


def test_labels_that_cannot_be_right_are_a_remark_in_every_report() -> None:
    said = "labels: 54 of 540 are none of 0..9, the classes of 'logits'"
    report = examples.report(examples.record("trace@torchscript"))
    assert remarks(report) == ()
    report = replace(report, reference=replace(report.reference, notes=("eager is slow", said)))
    assert remarks(report) == (f"L{said[1:]}",)
    assert "54 of 540" in markdown.render(report)
    assert "54 of 540" in html.render(report)
