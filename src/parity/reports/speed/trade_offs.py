"""The plots of latency against what it is traded for: the artifact's size, agreement, accuracy."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from parity.records import DecisionResult, Report
from parity.reports import axes, summary
from parity.reports.axes import Plot
from parity.reports.numbers import interval, share, size
from parity.reports.speed.lines import timing_text
from parity.reports.speed.places import EAGER, shared

_TAKES = 2
"""Targets; one alone is no trade-off."""


@dataclass(frozen=True, kw_only=True)
class _Traded:
    """What one target has for its time: a value with its bounds, and in words."""

    target: str
    value: float
    words: str
    low: float | None = None
    high: float | None = None


def sizes(report: Report) -> Plot | None:
    """Size of the artifact against the latency ratio; None with fewer than two targets to compare."""
    traded = [
        _Traded(target=record.target, value=record.export.bytes / 1e6, words=size(record.export.bytes))
        for record in report.records
        if record.export
    ]
    return _trade_off(
        report,
        traded,
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
    traded = [_share(record.target, result) for record, result in shown if result]
    return _trade_off(
        report,
        traded,
        name="agreement",
        title="Agreement and latency",
        axis=_shares("share of decisions that agree", traded),
    )


def accuracies(report: Report) -> Plot | None:
    """The metric against labels against the latency ratio, eager among them; None without labels or fewer than two."""
    labelled = [(record, each) for record in report.records for each in record.decisions if each.reference is not None]
    if not labelled:
        return None
    metric, output = labelled[0][1].metric, labelled[0][1].output
    traded = [
        _share(record.target, each) for record, each in labelled if (each.metric, each.output) == (metric, output)
    ]
    reference = labelled[0][1].reference or 0.0
    eager = _Traded(target=EAGER, value=reference, words=f"{summary.metric_words(metric)} {share(reference)}")
    words = summary.metric_words(metric)
    return _trade_off(
        report,
        [eager, *traded],
        name="accuracy",
        title=f"{words[:1].upper()}{words[1:]} and latency",
        axis=_shares(f"{words}, against labels", [eager, *traded]),
    )


def _share(target: str, result: DecisionResult) -> _Traded:
    around = f" ({interval(result.low, result.high)})" if result.low is not None else ""
    words = f"{summary.metric_words(result.metric)} {share(result.value)}{around}"
    return _Traded(target=target, value=result.value, words=words, low=result.low, high=result.high)


def _shares(title: str, traded: Sequence[_Traded]) -> dict[str, Any]:
    """An axis for shares of one, which has room around the interval of each."""
    lowest = min((each.value if each.low is None else each.low for each in traded), default=0.0)
    highest = max((each.value if each.high is None else each.high for each in traded), default=1.0)
    room = max(0.1 * (highest - lowest), 0.001)
    return {"title": {"text": title}, "range": [lowest - room, highest + room]}


def _trade_off(
    report: Report, traded: Sequence[_Traded], *, name: str, title: str, axis: dict[str, Any]
) -> Plot | None:
    place = shared(report)
    timed = {
        record.target: each
        for record in report.records
        for each in record.latency
        if place is not None and (each.batch, each.threads) == (place.batch, place.threads) and each.ratio is not None
    }
    styles = axes.styles([EAGER, *(record.target for record in report.records)])
    traces = []
    for each in traded:
        timing = timed.get(each.target)
        if timing is None and each.target != EAGER:
            continue
        # Eager is what the ratio is to.
        ratio = (1.0, None, None) if timing is None else (timing.ratio or 0.0, timing.ratio_low, timing.ratio_high)
        said = "" if timing is None else f", {timing_text(timing)}"
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": html.escape(each.target),
                "x": [each.value],
                "y": [ratio[0]],
                "error_x": axes.bars([(each.value, each.low, each.high)]),
                "error_y": axes.bars([ratio]),
                "hovertext": [html.escape(f"{each.target}, {each.words}{said}")],
                "hoverinfo": "text",
                "marker": axes.marker(styles[each.target], 11),
            }
        )
    if len(traces) - any(each.target == EAGER for each in traded) < _TAKES:
        return None
    layout = axes.layout()
    layout["xaxis"] = {"automargin": True, **axis}
    layout["yaxis"] = {"title": {"text": f"time / eager's, {place}"}, "rangemode": "tozero", "automargin": True}
    return Plot(
        name=name,
        title=title,
        caption=f"At {place}; lower is faster. Bars are 95 % confidence intervals.",
        height=axes.legend_height(len(traces)),
        figure={"data": traces, "layout": layout},
    )
