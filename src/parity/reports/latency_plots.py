"""The plots of latency: against eager, over the batch size, and against what it is traded for."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from parity.records import LatencyMeasurement, Record, Report
from parity.reports import axes, summary
from parity.reports.axes import Plot
from parity.reports.numbers import interval, milliseconds, number, share, size

EAGER = "eager"

_TRADE_OFF_TAKES = 2


def latency_ratios(report: Report) -> Plot | None:
    """The ratio to eager of each target at each batch size, with its interval; None without timings."""
    timed = [record for record in report.records if any(each.ratio is not None for each in record.latency)]
    batches = sorted({each.batch for record in timed for each in record.latency})
    if not timed:
        return None
    series: list[tuple[str, Sequence[LatencyMeasurement]]] = [(record.target, record.latency) for record in timed]
    found = [each for _, results in series for each in results]
    bounds = [value for each in found for value in (each.ratio, each.ratio_low, each.ratio_high) if value]
    low, high = axes.log_span([*bounds, 1.0], pad=0.06)
    traces = []
    for at, batch in enumerate(batches):
        points = [
            (row, name, each)
            for row, (name, results) in enumerate(series)
            for each in results
            if each.batch == batch and each.ratio is not None
        ]
        # The ratio of an unfinished timing may have no interval; its mark then has no bar.
        ratios = [(each.ratio or 0.0, each.ratio_low, each.ratio_high) for _, _, each in points]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": f"batch {batch}",
                "x": [axes.on_log_axis(ratio, low, high) for ratio, _, _ in ratios],
                "y": [row + axes.offset(at, len(batches)) for row, _, _ in points],
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [0.0 if top is None else top - ratio for ratio, _, top in ratios],
                    "arrayminus": [0.0 if bottom is None else ratio - bottom for ratio, bottom, _ in ratios],
                    "thickness": 1.5,
                    "width": 3,
                },
                "hovertext": [html.escape(f"{name}, {_timing(each)}") for _, name, each in points],
                "hoverinfo": "text",
                "marker": axes.marker(at, 8),
            }
        )
    layout = axes.row_layout([name for name, _ in series])
    layout["xaxis"] = axes.log_axis(low, high, "time / eager's time (log scale)")
    layout["shapes"] = [axes.vertical(1.0)]
    return Plot(
        name="latency-ratio",
        title="Latency against eager",
        caption="Left of the dotted line is faster than eager. Bars are 95 % confidence intervals.",
        height=axes.height(len(series)),
        figure={"data": traces, "layout": layout},
    )


def medians(report: Report) -> Plot | None:
    """Median times over the batch size, eager's among them; None without timings."""
    series: list[tuple[str, Sequence[LatencyMeasurement]]] = [
        (record.target, record.latency) for record in report.records if record.latency
    ]
    if report.reference.latency:
        series.insert(0, (EAGER, report.reference.latency))
    batches = sorted({each.batch for _, results in series for each in results})
    if not series:
        return None
    styles = _target_styles(report)
    traces = []
    for name, results in series:
        ordered = sorted(results, key=lambda each: each.batch)
        at = styles[name]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": html.escape(name),
                "x": [each.batch for each in ordered],
                "y": [each.median_ms for each in ordered],
                "hovertext": [html.escape(f"{name}, {_timing(each)}") for each in ordered],
                "hoverinfo": "text",
                "marker": axes.marker(at, 8),
                "line": axes.line(at, 3 if name == EAGER else 1.5),
            }
        )
    low, high = axes.log_span([each.median_ms for _, results in series for each in results], pad=0.08)
    first, last = axes.log_span([float(batch) for batch in batches], pad=0.08)
    layout = axes.layout()
    layout["xaxis"] = {
        **axes.log_axis(first, last, "batch size (log scale)"),
        "tickvals": batches,
        "ticktext": [str(batch) for batch in batches],
    }
    layout["yaxis"] = axes.log_axis(low, high, "median, ms (log scale)")
    return Plot(
        name="latency-median",
        title="Median latency by batch size",
        caption="The reference, eager PyTorch, is the thick line.",
        height=axes.legend_height(len(series)),
        figure={"data": traces, "layout": layout},
    )


def sizes(report: Report) -> Plot | None:
    """Size of the artifact against the latency ratio; None with fewer than two targets to compare."""
    points = [
        (record, record.export.bytes / 1e6, f"{size(record.export.bytes)}")
        for record in report.records
        if record.export
    ]
    return _trade_off(
        report,
        points,
        name="size",
        title="Size and latency",
        axis={"title": {"text": "artifact, MB"}, "rangemode": "tozero"},
    )


def agreements(report: Report) -> Plot | None:
    """Agreement of decisions against the latency ratio; None with fewer than two targets to compare."""
    shown = [
        (record, summary.shown_decision(each for each in record.decisions if each.metric.endswith("_agreement")))
        for record in report.records
    ]
    points = [
        (
            record,
            result.value,
            f"{summary.metric_words(result.metric)} {share(result.value)} ({interval(result.low, result.high)})",
        )
        for record, result in shown
        if result
    ]
    lowest = min((value for _, value, _ in points), default=0.0)
    room = max(0.1 * (1 - lowest), 0.001)
    return _trade_off(
        report,
        points,
        name="agreement",
        title="Agreement and latency",
        axis={"title": {"text": "share of decisions that agree"}, "range": [lowest - room, 1 + room]},
    )


def _trade_off(
    report: Report,
    points: Iterable[tuple[Record, float, str]],
    *,
    name: str,
    title: str,
    axis: dict[str, Any],
) -> Plot | None:
    batch = summary.shared_batch(report)
    styles = _target_styles(report)
    traces = []
    for record, x, label in points:
        timing = next((each for each in record.latency if each.batch == batch and each.ratio is not None), None)
        if timing is None:
            continue
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": html.escape(record.target),
                "x": [x],
                "y": [timing.ratio],
                "hovertext": [html.escape(f"{record.target}, {label}, {_timing(timing)}")],
                "hoverinfo": "text",
                "marker": axes.marker(styles[record.target], 11),
            }
        )
    if len(traces) < _TRADE_OFF_TAKES:
        return None
    layout = axes.layout()
    layout["xaxis"] = {"automargin": True, **axis}
    layout["yaxis"] = {"title": {"text": f"time / eager's, batch {batch}"}, "rangemode": "tozero", "automargin": True}
    return Plot(
        name=name,
        title=title,
        caption=f"At batch size {batch}; lower is faster.",
        height=axes.legend_height(len(traces)),
        figure={"data": traces, "layout": layout},
    )


def _timing(each: LatencyMeasurement) -> str:
    bounds = "" if each.ratio_low is None else f" ({interval(each.ratio_low, each.ratio_high)})"
    ratio = "" if each.ratio is None else f", {number(each.ratio)}{bounds} of eager"
    return f"batch {each.batch}: median {milliseconds(each.median_ms)}, p90 {milliseconds(each.p90_ms)}{ratio}"


def _target_styles(report: Report) -> dict[str, int]:
    """A number for each target, the same in every plot; eager is the first."""
    names = [EAGER, *(record.target for record in report.records)]
    return {name: at for at, name in enumerate(dict.fromkeys(names))}
