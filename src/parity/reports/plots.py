"""The plots of the HTML page, as plain plotly.js figures; colours of text and grid are the page's.

A figure is `{"data": [...], "layout": {...}}`. Rows of targets are placed by number on the y axis, so
that several points share a row without lying on each other.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from parity.records import Record, Report, Verdict
from parity.reports import axes, summary
from parity.reports.axes import Plot
from parity.reports.numbers import against
from parity.reports.speed import trade_offs
from parity.reports.speed.batch_plots import over_batch
from parity.reports.speed.ratio_plots import ratios

_VERDICT_MARKERS = {
    Verdict.PASS: ("circle", "#2e9e5b"),
    Verdict.FAIL: ("x", axes.LIMIT),
    Verdict.INCONCLUSIVE: ("diamond", "#c98a00"),
    Verdict.SKIP: ("circle-open", "#808080"),
}


def plots(report: Report) -> tuple[Plot, ...]:
    """The plots for which the report has anything to show."""
    made = (
        _errors(report),
        *ratios(report),
        *over_batch(report),
        trade_offs.sizes(report),
        trade_offs.agreements(report),
        trade_offs.accuracies(report),
    )
    return tuple(plot for plot in made if plot is not None)


def _errors(report: Report) -> Plot | None:
    points = [
        (row, result)
        for row, record in enumerate(report.records)
        for result in record.numeric
        if result.ratio is not None
    ]
    if not points:
        return None
    limits = [result.limit for _, result in points if result.limit]
    low, high = axes.log_span([*(result.ratio or 0.0 for _, result in points), *limits, 1.0])
    traces: list[dict[str, Any]] = [_limit_trace(report.records)]
    for verdict in summary.GRAVEST_FIRST:
        symbol, colour = _VERDICT_MARKERS[verdict]
        chosen = [(row, result) for row, result in points if result.verdict is verdict]
        if not chosen:
            continue
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": str(verdict),
                "x": [axes.on_log_axis(result.ratio or 0.0, low, high) for _, result in chosen],
                "y": [
                    row + axes.offset(report.records[row].numeric.index(result), len(report.records[row].numeric))
                    for row, result in chosen
                ],
                "hovertext": [
                    html.escape(
                        f"{report.records[row].target}, {result.output}: "
                        f"{against(result.ratio, result.limit)} ({result.verdict})"
                    )
                    for row, result in chosen
                ],
                "hoverinfo": "text",
                "marker": {"symbol": symbol, "color": colour, "size": 11},
            }
        )
    layout = axes.row_layout([record.target for record in report.records])
    layout["xaxis"] = axes.log_axis(low, high, "error / floor (log scale)")
    layout["shapes"] = [axes.vertical(1.0)]
    with_points = {row for row, _ in points}
    layout["annotations"] = [
        axes.note(row, _no_ratio(record)) for row, record in enumerate(report.records) if row not in with_points
    ]
    return Plot(
        name="errors",
        title="Error against the floor",
        caption="One mark an output. The dotted line at 1 is the reference's own arithmetic noise; "
        "the solid line is the limit of each target. Outputs that are not judged by a ratio have no mark.",
        height=axes.height(len(report.records)),
        figure={"data": traces, "layout": layout},
    )


def _limit_trace(records: Sequence[Record]) -> dict[str, Any]:
    x: list[float | None] = []
    y: list[float | None] = []
    for row, record in enumerate(records):
        for limit in sorted({result.limit for result in record.numeric if result.limit}):
            x += [limit, limit, None]
            y += [row - 0.5, row + 0.5, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "limit",
        "x": x,
        "y": y,
        "hoverinfo": "skip",
        "line": {"color": axes.LIMIT, "width": 2},
    }


def _no_ratio(record: Record) -> str:
    numeric = summary.worst_numeric(record.numeric)
    return f"no ratio: {summary.ended(record) or (summary.error_text(numeric) if numeric else 'not judged by it')}"
