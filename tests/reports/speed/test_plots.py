"""The plots of speed: what is drawn, with which bounds, and what is not worth a plot."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import plotly.graph_objects as go  # type: ignore[import-untyped,unused-ignore]
import pytest

from parity.records import LatencyResult, Report, Verdict
from parity.reports.axes import Plot
from parity.reports.plots import plots
from tests.reports import timed


def drawn(report: Report) -> dict[str, Plot]:
    return {plot.name: plot for plot in plots(report)}


def trace(plot: Plot, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in plot.figure["data"] if each["name"] == name)
    return found


@pytest.mark.parametrize("make", [timed.quiet, timed.everything, timed.several_threads, timed.one_batch])
def test_every_figure_is_valid_and_its_json_has_no_nan(make: Any) -> None:
    for plot in drawn(make()).values():
        go.Figure(plot.figure)
        json.dumps(plot.figure, allow_nan=False)


def test_latency_and_throughput_have_the_bounds_of_the_median() -> None:
    made = drawn(timed.quiet())
    median = trace(made["latency-median"], "eager")
    assert median["y"][0] == pytest.approx(7.75)
    assert median["error_y"]["array"][0] == pytest.approx(7.75 * 0.03)
    assert median["error_y"]["arrayminus"][0] == pytest.approx(7.75 * 0.02)
    rate = trace(made["throughput"], "eager")
    assert rate["error_y"]["array"][0] == pytest.approx(1000 / 7.75 * (1 / 0.98 - 1))
    assert rate["error_y"]["arrayminus"][0] == pytest.approx(1000 / 7.75 * (1 - 1 / 1.03))


def test_the_best_batch_is_ringed() -> None:
    rings = trace(drawn(timed.quiet())["throughput"], "best batch")
    assert rings["x"] == [8, 32, 32, 32]


def test_the_budget_is_a_line_where_one_was_given_and_lies_on_the_axis() -> None:
    plot = drawn(timed.everything())["latency-median"]
    assert trace(plot, "budget 50 ms")["y"] == [50.0, 50.0]
    assert "p90" in plot.caption
    none = drawn(timed.quiet())["latency-median"]
    assert not [each for each in none.figure["data"] if "budget" in each["name"]]
    assert "budget" not in none.caption
    far = drawn(timed.report(timed.cell("a@b", 0.9, 5000.0), sweep_budget=5000.0))["latency-median"]
    low, high = far.figure["layout"]["yaxis"]["range"]
    assert 10**low < 5000.0 < 10**high


def test_a_limit_for_a_batch_size_is_a_stroke_there_and_says_whose_it_is() -> None:
    made = drawn(timed.everything())
    stroke = trace(made["latency-median"], "max_ms of onnx@openvino")
    assert (stroke["x"], stroke["y"]) == ([8], [20.0])


def test_a_limit_on_throughput_is_a_line_since_any_batch_size_may_reach_it() -> None:
    assert trace(drawn(timed.everything())["throughput"], "min_throughput 250 of onnx@openvino")["y"] == [250.0, 250.0]
    quiet = drawn(timed.quiet())["throughput"].figure["data"]
    assert not [each for each in quiet if "min_throughput" in each["name"]]


def test_the_golden_and_what_is_allowed_stand_beside_the_ratio() -> None:
    plot = drawn(timed.quiet())["latency-ratio"]
    golden, allowed = trace(plot, "golden"), trace(plot, "allowed")
    assert golden["y"] == allowed["y"]
    assert allowed["x"][0] == pytest.approx(0.94 * 1.02 * 1.25)
    assert golden["error_x"]["array"][0] == pytest.approx(0.94 * 1.02 * 0.03)


def test_without_a_golden_there_is_none_in_the_plot() -> None:
    absent = dict.fromkeys(f"{name}{end}" for name in ("baseline", "growth") for end in ("", "_low", "_high"))
    bare = tuple(
        LatencyResult(**{**vars(each), **absent, "limit": None, "verdict": Verdict.SKIP}) for each in timed.timings(0.9)
    )
    plot = drawn(timed.report(timed.cell("a@b", 0.9, latency=bare)))["latency-ratio"]
    assert {each["name"] for each in plot.figure["data"]} == {"batch 1", "batch 2", "batch 8", "batch 32"}
    assert "golden" not in plot.caption


def test_each_number_of_threads_has_figures_of_its_own_on_the_same_axes() -> None:
    made = drawn(timed.several_threads())
    for name in ("latency-ratio", "latency-median", "throughput"):
        assert [f"{name}-{threads}" in made for threads in (1, 2, 4)] == [True] * 3
        assert name not in made
    ranges = [made[f"latency-median-{threads}"].figure["layout"]["yaxis"]["range"] for threads in (1, 2, 4)]
    assert ranges[0] == ranges[1] == ranges[2]
    assert "4 threads" in made["throughput-4"].title
    assert "2 threads" in made["agreement"].caption


def test_one_batch_size_is_no_curve() -> None:
    made = drawn(timed.one_batch())
    assert not {"latency-median", "throughput"} & made.keys()
    assert "latency-ratio" in made


def test_agreement_and_accuracy_have_both_intervals_and_eager_its_own_score() -> None:
    made = drawn(timed.quiet())
    mark = trace(made["agreement"], "onnx@onnxruntime")
    assert mark["error_x"]["array"] == pytest.approx([0.004])
    assert mark["error_y"]["array"] == pytest.approx([0.61 * 0.94 * 0.03])
    assert trace(made["accuracy"], "eager")["x"] == [0.917]
    assert trace(made["accuracy"], "eager")["y"] == [1.0]


def test_without_labels_there_is_no_plot_of_accuracy() -> None:
    report = timed.quiet()
    bare = [dataclasses.replace(each, decisions=each.decisions[:1]) for each in report.records]
    assert "accuracy" not in drawn(dataclasses.replace(report, records=tuple(bare)))
