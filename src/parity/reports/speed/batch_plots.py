"""The plots over the batch size: time of a call and throughput, one figure of each for every number of threads."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from parity.records import LatencyMeasurement, Report, SweepFacts
from parity.reports import axes
from parity.reports.axes import Plot
from parity.reports.numbers import count, milliseconds, number
from parity.reports.speed import budgets
from parity.reports.speed.cells import throughput_bounds
from parity.reports.speed.lines import timing_text
from parity.reports.speed.places import EAGER, all_threads

Series = tuple[str, Sequence[LatencyMeasurement]]

_CURVE_TAKES = 2
"""Batch sizes; one alone is no curve, and the tables have it."""

_EAGER_WIDTH = 3.0
_WIDTH = 1.5


def over_batch(report: Report) -> tuple[Plot, ...]:
    """Latency and throughput over the batch size, for each number of threads with which several sizes were timed."""
    threads = all_threads(report)
    # The same axes for every number of threads: figures beside each other are compared by eye.
    every = [each for number_ in threads for _, results in _series(report, number_) for each in results]
    made: list[Plot] = []
    for number_ in threads:
        series = _series(report, number_)
        if len(_batches(series)) < _CURVE_TAKES:
            continue
        of = number_ if len(threads) > 1 else None
        made += [_latency(report, series, number_, every, of), _throughput(report, series, number_, every, of)]
    return tuple(made)


def _series(report: Report, threads: int) -> tuple[Series, ...]:
    """Eager and every target by batch size, those that were timed with `threads`."""
    found: list[Series] = [(EAGER, report.reference.latency)]
    found += [(record.target, record.latency) for record in report.records]
    chosen = (
        (name, sorted((each for each in results if each.threads == threads), key=lambda each: each.batch))
        for name, results in found
    )
    return tuple((name, results) for name, results in chosen if results)


def _latency(
    report: Report, series: Sequence[Series], threads: int, every: Sequence[LatencyMeasurement], of: int | None
) -> Plot:
    strokes = _strokes(report, threads)
    budget = budgets.sweep_budget(report)
    known = [value for each in every for value in _median(each) if value is not None]
    known += [value for each in strokes for value in each["y"]]
    low, high = axes.log_span([*known, *([budget] if budget else [])], pad=0.08)
    styles = _styles(report)
    traces = [_curve(name, results, styles[name], [_median(each) for each in results]) for name, results in series]
    traces += strokes
    caption = f"The reference, eager PyTorch, is the thick line.{_bars(series)}"
    if budget:
        traces.append(axes.level(budget, _across(series), f"budget {milliseconds(budget)}"))
        caption += f" The dotted line is the budget; what has to keep it is {_kept(report, threads)}, not the median."
    return Plot(
        name=_name("latency-median", of),
        title=_title("Median latency by batch size", of),
        caption=caption,
        height=axes.legend_height(len(traces)),
        figure={"data": traces, "layout": _layout(series, axes.log_axis(low, high, "median, ms (log scale)"))},
    )


def _median(each: LatencyMeasurement) -> tuple[float, float | None, float | None]:
    return each.median_ms, each.median_low_ms, each.median_high_ms


def _throughput(
    report: Report, series: Sequence[Series], threads: int, every: Sequence[LatencyMeasurement], of: int | None
) -> Plot:
    known = [value for each in every for value in (each.throughput, *throughput_bounds(each)) if value is not None]
    levels = _levels(report, threads)
    low, high = axes.log_span([*known, *levels], pad=0.08)
    styles = _styles(report)
    traces = [
        _curve(name, results, styles[name], [(each.throughput, *throughput_bounds(each)) for each in results])
        for name, results in series
    ]
    best = _best(report, series, threads)
    traces += [best] if best else []
    traces += [axes.level(value, _across(series), text) for value, text in levels.items()]
    return Plot(
        name=_name("throughput", of),
        title=_title("Throughput by batch size", of),
        caption=f"Higher is better.{_bars(series)}"
        + (" A ring marks the batch size of best throughput." if best else ""),
        height=axes.legend_height(len(traces)),
        figure={"data": traces, "layout": _layout(series, axes.log_axis(low, high, "samples a second (log scale)"))},
    )


def _bars(series: Sequence[Series]) -> str:
    """What the bars are, where there are any."""
    drawn = any(each.median_low_ms is not None for _, results in series for each in results)
    return " Bars are 95 % confidence intervals." if drawn else ""


def _curve(
    name: str,
    results: Sequence[LatencyMeasurement],
    style: int,
    values: Sequence[tuple[float, float | None, float | None]],
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": html.escape(name),
        "x": [each.batch for each in results],
        "y": [value for value, _, _ in values],
        "error_y": axes.bars(values),
        "hovertext": [html.escape(f"{name}, {timing_text(each)}") for each in results],
        "hoverinfo": "text",
        "marker": axes.marker(style, 8),
        "line": axes.line(style, _EAGER_WIDTH if name == EAGER else _WIDTH),
    }


def _best(report: Report, series: Sequence[Series], threads: int) -> dict[str, Any] | None:
    """Rings around the points of best throughput; None where no sweep told which they are."""
    swept: dict[str, Sequence[SweepFacts]] = {EAGER: report.reference.sweep}
    swept |= {record.target: record.sweep for record in report.records}
    points = [
        each
        for name, results in series
        for facts in swept[name]
        for each in results
        if facts.threads == threads and each.batch == facts.best_batch
    ]
    if not points:
        return None
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "best batch",
        "x": [each.batch for each in points],
        "y": [each.throughput for each in points],
        "hoverinfo": "skip",
        "marker": {"symbol": "circle-open", "size": 17, "color": "#808080", "line": {"width": 2}},
    }


def _limits(report: Report, metric: str, threads: int) -> dict[tuple[int | None, float], list[str]]:
    """The targets of each limit of one kind, by its batch size and value."""
    found: dict[tuple[int | None, float], list[str]] = {}
    for record in report.records:
        for each in record.budgets:
            if each.metric == metric and each.threads in {None, threads}:
                found.setdefault((each.batch, each.limit), []).append(record.target)
    return found


def _whose(report: Report, names: Iterable[str]) -> str:
    """` of onnx@onnxruntime`, ` of 2 targets`; empty where a limit is everybody's."""
    own = sorted(set(names))
    if len(own) == sum(1 for record in report.records if record.latency):
        return ""
    return f" of {own[0] if len(own) == 1 else count(len(own), 'target')}"


def _strokes(report: Report, threads: int) -> list[dict[str, Any]]:
    """Strokes at what a call may take at most, each at its batch size."""
    limits = {(batch, value): own for (batch, value), own in _limits(report, "max_ms", threads).items() if batch}
    if not limits:
        return []
    whose = _whose(report, (name for own in limits.values() for name in own))
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": html.escape(f"max_ms{whose}"),
            "x": [batch for batch, _ in limits],
            "y": [value for _, value in limits],
            "hovertext": [
                html.escape(f"max_ms at batch {batch}: {milliseconds(value)} ({', '.join(own)})")
                for (batch, value), own in limits.items()
            ],
            "hoverinfo": "text",
            "marker": {"symbol": "line-ew-open", "size": 26, "color": axes.LIMIT, "line": {"width": 3}},
        }
    ]


def _levels(report: Report, threads: int) -> dict[float, str]:
    """What has to be served at the best batch size, whichever that is: the limits and their names."""
    owners: dict[float, list[str]] = {}
    for (_, value), own in _limits(report, "min_throughput", threads).items():
        owners.setdefault(value, []).extend(own)
    return {value: f"min_throughput {number(value)}{_whose(report, own)}" for value, own in owners.items() if value > 0}


def _kept(report: Report, threads: int) -> str:
    """What was held against the budget, as the sweeps say it."""
    swept = [*report.reference.sweep, *(each for record in report.records for each in record.sweep)]
    said = sorted({each.statistic for each in swept if each.statistic and each.threads == threads}, reverse=True)
    names = {"max": "the slowest call"}
    return " or ".join(names.get(each, each) for each in said) or "p90"


def _batches(series: Sequence[Series]) -> list[int]:
    return sorted({each.batch for _, results in series for each in results})


def _across(series: Sequence[Series]) -> tuple[float, float]:
    """The ends of the axis of batch sizes, as decimal logarithms."""
    return axes.log_span([float(batch) for batch in _batches(series)], pad=0.08)


def _layout(series: Sequence[Series], y: dict[str, Any]) -> dict[str, Any]:
    batches = _batches(series)
    layout = axes.layout()
    layout["xaxis"] = {
        **axes.log_axis(*_across(series), "batch size (log scale)"),
        "tickvals": batches,
        "ticktext": [str(batch) for batch in batches],
    }
    layout["yaxis"] = y
    return layout


def _styles(report: Report) -> dict[str, int]:
    return axes.styles([EAGER, *(record.target for record in report.records)])


def _name(name: str, threads: int | None) -> str:
    return name if threads is None else f"{name}-{threads}"


def _title(title: str, threads: int | None) -> str:
    return title if threads is None else f"{title}, {count(threads, 'thread')}"
