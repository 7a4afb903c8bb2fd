"""report.html: one file, no network, nothing of the records taken for markup."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser
from typing import Any

import plotly.graph_objects as go  # type: ignore[import-untyped,unused-ignore]
import pytest

from parity.records import Verdict
from parity.reports import html, plots
from parity.reports.axes import Plot

from . import examples


class _Page(HTMLParser):
    """The tags of a page with their attributes, and its text outside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(page)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside != "style":
            self.words.append(data)


def test_the_page_needs_no_network_and_holds_plotly_once() -> None:
    rendered = html.render(examples.nine_targets())
    page = _Page(rendered)
    assert not [tag for tag, given in page.tags if given.keys() & {"src", "srcset"} or tag == "link"]
    assert "default-src 'none'" in rendered
    assert sum(len(script) > 1_000_000 for script in page.scripts) == 1


def test_the_first_screen_has_the_verdict_and_a_row_for_each_target() -> None:
    report = examples.nine_targets()
    page = _Page(html.render(report))
    assert "3 failed (onnx@openvino, aoti@torch, onnx-torchscript@onnxruntime)" in page.text
    rows = [given["href"] for tag, given in page.tags if tag == "a"]
    sections = [given["id"] for tag, given in page.tags if tag == "details"]
    assert rows == [f"#{section}" for section in sections if section != "eager"]
    assert len(rows) == len(report.records)


def test_verdicts_are_words_and_not_only_colours() -> None:
    text = _Page(html.render(examples.nine_targets())).text
    for word in ("✓ pass", "✗ fail", "? inconclusive", "- skip"):
        assert word in text


def test_names_and_messages_are_text_and_never_markup() -> None:
    page = _Page(html.render(examples.hazardous()))
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"img", "i", "u"}
    assert "<img src=x onerror=alert(1)>" in page.text
    assert "<script>alert('x')</script>" in page.text
    figures = json.loads(page.scripts[0])
    assert "errors" in figures


def test_a_report_with_nothing_to_plot_carries_no_plotly() -> None:
    rendered = html.render(examples.unstable())
    assert len(rendered) < 100_000
    assert "two runs on sample 0 differ by 0.77" in rendered
    assert "No target was judged." in html.render(examples.report())


def test_the_page_follows_the_theme_and_the_width_of_the_reader() -> None:
    rendered = html.render(examples.unstable())
    assert "@media (prefers-color-scheme: dark)" in rendered
    assert re.search(r"@media \(max-width: \d+px\)", rendered)
    assert 'name="viewport"' in rendered


def _plots(*records: Any) -> dict[str, Plot]:
    return {plot.name: plot for plot in plots.plots(examples.report(*records))}


def test_the_figures_are_valid_plotly() -> None:
    made = plots.plots(examples.nine_targets())
    assert [plot.name for plot in made] == [
        "errors",
        "latency-ratio",
        "latency-median",
        "throughput",
        "size",
        "agreement",
    ]
    for plot in made:
        go.Figure(plot.figure)


def test_a_target_without_a_ratio_keeps_its_row_and_says_why() -> None:
    figure = plots.plots(examples.nine_targets())[0].figure
    assert len(figure["layout"]["yaxis"]["tickvals"]) == 9
    notes = [note["text"] for note in figure["layout"]["annotations"]]
    assert "no ratio: run/crash" in notes
    assert "no ratio: open/unavailable" in notes


@pytest.mark.parametrize("ratio", [0.0, math.inf, math.nan])
def test_a_ratio_that_has_no_place_on_a_log_axis_stands_at_its_edge(ratio: float) -> None:
    record = examples.record("onnx@onnxruntime", numeric=(examples.numeric(ratio, verdict=Verdict.FAIL),))
    figure = _plots(record)["errors"].figure
    mark = next(trace for trace in figure["data"] if trace["name"] == "fail")
    low, high = figure["layout"]["xaxis"]["range"]
    assert mark["x"][0] in (10**low, 10**high)
    assert json.dumps(figure, allow_nan=False)


def test_the_bars_are_the_intervals_and_eager_is_a_line_of_its_own() -> None:
    made = _plots(examples.record("onnx@onnxruntime"))
    trace = next(each for each in made["latency-ratio"].figure["data"] if each["name"] == "batch 8")
    assert trace["error_x"]["array"] == pytest.approx([0.02])
    assert trace["error_x"]["arrayminus"] == pytest.approx([0.02])
    assert [each["name"] for each in made["latency-median"].figure["data"]] == ["eager", "onnx@onnxruntime"]


def test_times_that_are_not_finite_do_not_cost_the_page() -> None:
    record = examples.record(
        "onnx@onnxruntime", latency=examples.latency(math.nan, median_ms=math.inf, ratio_high=math.inf)
    )
    page = _Page(html.render(examples.report(record)))
    assert json.loads(page.scripts[0], parse_constant=pytest.fail)


def test_a_waiver_is_shown_and_its_details_are_open() -> None:
    page = _Page(html.render(examples.report(examples.record("trace@torchscript"), examples.waived())))
    assert "1 waived (onnx@onnxruntime)" in page.text
    assert "waived: onnx@onnxruntime (numeric, logits only) until 2025-03-31: the resize is fixed" in page.text
    opened = [given["id"] for tag, given in page.tags if tag == "details" and "open" in given]
    assert opened == ["target-2"]
