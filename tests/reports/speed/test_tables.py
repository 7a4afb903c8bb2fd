"""The tables of one target's speed and of all targets side by side."""

from __future__ import annotations

import dataclasses

import pytest

from parity.records import LatencyMeasurement, LatencyResult, Verdict
from parity.reports.sections import Section
from parity.reports.speed import cells
from parity.reports.speed.overview import overview
from parity.reports.speed.tables import sections
from tests.reports import examples, timed


def section(title: str) -> Section:
    report = timed.everything()
    return next(each for each in sections(report, report.records[2]) if each.title.startswith(title))


def test_throughput_has_the_bounds_that_the_median_has() -> None:
    measured = LatencyMeasurement(**timed.measured(8, 40.0))
    low, high = cells.throughput_bounds(measured)
    assert low == pytest.approx(8 / (40.0 * 1.03) * 1000)
    assert high == pytest.approx(8 / (40.0 * 0.98) * 1000)
    unknown = LatencyMeasurement(**timed.measured(8, 40.0, median_low_ms=None, median_high_ms=None))
    assert cells.throughput_bounds(unknown) == (None, None)
    assert cells.throughput(unknown) == "200"


def test_a_percentile_is_a_time_or_what_it_needs_and_never_both() -> None:
    assert cells.percentile(LatencyMeasurement(**timed.measured(1, 10.0)), "p99") == "14 ms"
    assert cells.percentile(LatencyMeasurement(**timed.measured(1, 100.0)), "p99") == "needs\n662 calls"
    silent = LatencyMeasurement(**timed.measured(1, 100.0, needed=None))
    assert cells.percentile(silent, "p99") == "n/a"


def test_growth_stands_beside_what_is_allowed_of_it() -> None:
    result = timed.timings(0.5)[2]
    assert cells.growth(result) == "0.98 / 1.25\n0.942..1.02"
    assert cells.growth(LatencyMeasurement(**timed.measured(8, 40.0))) == "n/a"


def test_a_ratio_just_beyond_its_limit_does_not_read_as_the_limit() -> None:
    result = LatencyResult(**{**vars(timed.timings(1.0)[2]), "ratio": 1.2504, "limit": 1.25})
    assert cells.ratio(result).startswith("1.2504")


def test_every_batch_size_has_a_line_with_what_its_numbers_rest_on() -> None:
    table = section("Latency, 2 threads")
    assert [line.what for line in table.lines] == ["1", "2", "8", "32"]
    assert table.lines[2].more == (
        "120 bursts of 1,078 calls from 6 fresh processes, 24 s in all",
        "peak memory 204 MB",
    )
    assert not table.judged


def test_budgets_have_their_units_and_their_direction() -> None:
    lines = {line.what: line for line in section("Budgets").lines}
    assert lines["max_bytes"].numbers == ("46.8 MB", "n/a", "at most 40 MB")
    assert lines["max_ms at batch 8"].numbers == ("22.3 ms", "19.1..24.4 ms", "at most 20 ms")
    assert lines["min_throughput at batch 8"].numbers[2] == "at least 250 samples/s"
    assert lines["max_bytes"].verdict is Verdict.FAIL


def test_the_overview_names_what_fails_at_a_batch_size_that_it_does_not_show() -> None:
    table = overview(timed.everything())
    assert table is not None
    lines = {line.what: line for line in table.lines}
    assert lines["onnx@onnxruntime"].verdict is Verdict.FAIL
    assert lines["onnx@onnxruntime"].more == ("latency fails at batch 8",)
    assert lines["onnx@openvino"].more == ("max_bytes fails", "max_ms is undecided")
    assert lines["onnx-int8-static@onnxruntime"].more == ()
    assert lines["eager"].verdict is None


def test_without_a_golden_and_without_budgets_nothing_is_judged() -> None:
    skipped = timed.cell("a@b", 0.9, latency=timed.timings(0.9, verdict=Verdict.SKIP))
    table = overview(timed.report(skipped))
    assert table is not None
    assert not table.judged


def test_a_report_of_before_has_the_columns_that_it_knows() -> None:
    table = overview(examples.all_pass())
    assert table is not None
    assert table.columns == ("target", "median", "p90", "samples/s", "ratio to eager", "size")


def test_the_largest_batch_within_a_budget_is_told_with_what_was_held_against_it() -> None:
    report = timed.everything()
    table = overview(report)
    assert table is not None
    at = table.columns.index("within 50 ms") - 1
    assert [line.numbers[at] for line in table.lines] == ["8 (p90)"] * 4 + ["32 (p90)"]
    none = timed.sweep(timed.timings(0.9), 0.1)
    record = dataclasses.replace(report.records[0], sweep=(none,))
    bare = overview(timed.report(record))
    assert bare is not None
    assert bare.lines[1].numbers[bare.columns.index("within 0.1 ms") - 1] == "none"
