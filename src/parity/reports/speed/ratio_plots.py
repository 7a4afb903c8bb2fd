"""The plot of time over eager's: one figure for every number of threads, beside what the golden allows."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from parity.records import LatencyResult, Report
from parity.reports import axes
from parity.reports.axes import Plot
from parity.reports.numbers import count, interval, number
from parity.reports.speed.lines import timing_text

Point = tuple[float, str, LatencyResult]
"""Where in the rows a timing stands, whose it is, and the timing."""


def ratios(report: Report) -> tuple[Plot, ...]:
    """The ratio to eager of each target at each batch size with its interval; nothing without timings."""
    timed = [
        (record.target, tuple(each for each in record.latency if each.ratio is not None)) for record in report.records
    ]
    found = [each for _, results in timed for each in results]
    threads = sorted({each.threads for each in found})
    known = [
        value
        for each in found
        for value in (each.ratio, each.ratio_low, each.ratio_high, each.baseline_low, each.baseline_high, each.limit)
        if value
    ]
    span = axes.log_span([*known, 1.0], pad=0.06)
    return tuple(_plot(timed, each, span, several=len(threads) > 1) for each in threads)


def _plot(
    timed: Sequence[tuple[str, tuple[LatencyResult, ...]]], threads: int, span: tuple[float, float], *, several: bool
) -> Plot:
    rows = [(name, [each for each in results if each.threads == threads]) for name, results in timed]
    rows = [(name, results) for name, results in rows if results]
    batches = sorted({each.batch for _, results in rows for each in results})
    points: list[Point] = [
        (row + axes.offset(batches.index(each.batch), len(batches)), name, each)
        for row, (name, results) in enumerate(rows)
        for each in results
    ]
    golden = _golden(points)
    traces = [*golden, *(_marks(at, batch, points, span) for at, batch in enumerate(batches))]
    layout = axes.row_layout([name for name, _ in rows])
    layout["xaxis"] = axes.log_axis(*span, "time / eager's time (log scale)")
    layout["shapes"] = [axes.vertical(1.0)]
    caption = "Left of the dotted line is faster than eager. Bars are 95 % confidence intervals."
    if golden:
        caption += " Grey is the golden's interval, and the red stroke what is allowed."
    return Plot(
        name=f"latency-ratio-{threads}" if several else "latency-ratio",
        title="Latency against eager" + (f", {count(threads, 'thread')}" if several else ""),
        caption=caption,
        height=axes.height(len(rows)),
        figure={"data": traces, "layout": layout},
    )


def _marks(at: int, batch: int, points: Sequence[Point], span: tuple[float, float]) -> dict[str, Any]:
    chosen = [(y, name, each) for y, name, each in points if each.batch == batch]
    # The ratio of an unfinished timing may have no interval; its mark then has no bar.
    values = [(each.ratio or 0.0, each.ratio_low, each.ratio_high) for _, _, each in chosen]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"batch {batch}",
        "x": [axes.on_log_axis(ratio, *span) for ratio, _, _ in values],
        "y": [y for y, _, _ in chosen],
        "error_x": axes.bars(values),
        "hovertext": [
            html.escape(f"{name}, {timing_text(each)}{_against(each)} ({each.verdict})") for _, name, each in chosen
        ],
        "hoverinfo": "text",
        "marker": axes.marker(at, 8),
    }


def _golden(points: Sequence[Point]) -> list[dict[str, Any]]:
    """The golden's intervals, and what is allowed; nothing where there is no golden for this machine."""
    judged = [(y, each) for y, _, each in points if each.baseline is not None]
    if not judged:
        return []
    values = [(each.baseline or 0.0, each.baseline_low, each.baseline_high) for _, each in judged]
    limited = [(y, each) for y, each in judged if each.limit is not None]
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "golden",
            "x": [value for value, _, _ in values],
            "y": [y for y, _ in judged],
            "error_x": axes.bars(values) | {"thickness": 7, "width": 0},
            "hoverinfo": "skip",
            "marker": {"symbol": "line-ns-open", "size": 8, "color": "rgba(128, 128, 128, 0.5)", "line": {"width": 3}},
        },
        {
            "type": "scatter",
            "mode": "markers",
            "name": "allowed",
            "x": [each.limit for _, each in limited],
            "y": [y for y, _ in limited],
            "hoverinfo": "skip",
            "marker": {"symbol": "line-ns-open", "size": 11, "color": axes.LIMIT, "line": {"width": 2}},
        },
    ]


def _against(each: LatencyResult) -> str:
    if each.baseline is None:
        return ""
    around = f" ({interval(each.baseline_low, each.baseline_high)})" if each.baseline_low is not None else ""
    return f", golden {number(each.baseline)}{around}, allowed {number(each.limit)}"
