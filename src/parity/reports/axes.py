"""Parts of plotly.js figures: marks that colour-blind readers can tell apart, rows, logarithmic axes."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from parity.reports.numbers import number

# Okabe and Ito's colours, which stay apart for colour-blind readers; symbols and dashes repeat them.
_COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#d55e00",
    "#56b4e9",
    "#8c6bb1",
    "#7f7f7f",
    "#a6761d",
    "#d6336c",
)
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "star", "hexagon", "cross", "x")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
LIMIT = "#d43d3d"
"""The colour of what is allowed, in every plot."""

_ROW = 42
_AROUND_ROWS = 130
_PLOT = 320
_LEGEND_LINE = 14
_SPREAD = 0.5
_LOG_STEPS = ((0.4, (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)), (1, (1, 2, 3, 5, 7)), (2, (1, 2, 5)), (math.inf, (1,)))
# Above the plot, where a legend of many lines takes its room from the plot and not from the axis title.
_LEGEND = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"}


@dataclass(frozen=True, kw_only=True)
class Plot:
    """One figure with what stands around it: `name` is its id in the page, `height` is in pixels."""

    name: str
    title: str
    caption: str
    height: int
    figure: dict[str, Any]


def marker(at: int, pixels: int) -> dict[str, Any]:
    """The mark of series `at`, told from others by its colour and by its shape."""
    return {"symbol": _SYMBOLS[at % len(_SYMBOLS)], "color": _COLOURS[at % len(_COLOURS)], "size": pixels}


def line(at: int, width: float) -> dict[str, Any]:
    """The line of series `at`, told from others by its colour and by its dashes."""
    return {"color": _COLOURS[at % len(_COLOURS)], "dash": _DASHES[at % len(_DASHES)], "width": width}


def styles(names: Iterable[str]) -> dict[str, int]:
    """A number for each name, for `marker` and `line`: the same order gives the same styles in every plot."""
    return {name: at for at, name in enumerate(dict.fromkeys(names))}


def bars(values: Sequence[tuple[float, float | None, float | None]]) -> dict[str, Any]:
    """Error bars from values with their bounds; a value that has none has no bar."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [0.0 if high is None else high - value for value, _, high in values],
        "arrayminus": [0.0 if low is None else value - low for value, low, _ in values],
        "thickness": 1.5,
        "width": 3,
    }


def layout() -> dict[str, Any]:
    """What every figure has: narrow margins, and a legend above the plot."""
    return {"margin": {"l": 8, "r": 12, "t": 12, "b": 8}, "legend": dict(_LEGEND), "showlegend": True}


def row_layout(names: Sequence[str]) -> dict[str, Any]:
    """A layout with one row a name, the first on top, names broken at `@` to fit a narrow screen."""
    rows = layout()
    rows["yaxis"] = {
        "tickvals": list(range(len(names))),
        "ticktext": [html.escape(name).replace("@", "<br>@", 1) for name in names],
        "range": [len(names) - 0.5, -0.5],
        "automargin": True,
        "zeroline": False,
        "fixedrange": True,
    }
    return rows


def height(count: int) -> int:
    """Pixels for a plot of `count` rows."""
    return _AROUND_ROWS + _ROW * count


def legend_height(count: int) -> int:
    """Pixels for a plot with `count` names in its legend, which on a narrow screen stand one a line."""
    return _PLOT + _LEGEND_LINE * count


def offset(at: int, count: int) -> float:
    """Where the point `at` of `count` lies within its row, from -0.25 to 0.25."""
    return 0.0 if count == 1 else _SPREAD * (at / (count - 1) - 0.5)


def vertical(x: float) -> dict[str, Any]:
    """A dotted line from top to bottom at the value `x`."""
    # A shape's position on a log axis is given as the value itself, unlike the axis's range.
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": x,
        "x1": x,
        "y0": 0,
        "y1": 1,
        "line": {"dash": "dot", "width": 1.5, "color": "#808080"},
    }


def level(y: float, across: tuple[float, float], name: str) -> dict[str, Any]:
    """A dotted line at the value `y` over a logarithmic axis between two decimal logarithms, named in the legend.

    A text beside the line would cover the curves that it is for.
    """
    low, high = across
    return {
        "type": "scatter",
        "mode": "lines",
        "name": html.escape(name),
        "x": [10**low, 10**high],
        "y": [y, y],
        "hoverinfo": "name",
        "line": {"dash": "dot", "width": 2, "color": LIMIT},
    }


def note(row: int, text: str) -> dict[str, Any]:
    """A text at the left end of a row that has no mark."""
    return {
        "xref": "paper",
        "yref": "y",
        "x": 0.01,
        "xanchor": "left",
        "y": row,
        "text": html.escape(text),
        "showarrow": False,
        "font": {"size": 12},
    }


def log_span(values: Iterable[float], pad: float = 0.12) -> tuple[float, float]:
    """The decimal logarithms between which the positive finite `values` lie, with room on both sides."""
    logs = [math.log10(value) for value in values if value > 0 and math.isfinite(value)] or [0.0]
    room = max((max(logs) - min(logs)) * pad, 0.1)
    return min(logs) - room, max(logs) + room


def on_log_axis(value: float, low: float, high: float) -> float:
    """`value`, or the edge of the axis where it is zero, infinite or NaN and has no place on it."""
    if math.isfinite(value) and value > 0:
        return value
    return float(10**low) if value <= 0 else float(10**high)


def log_axis(low: float, high: float, title: str) -> dict[str, Any]:
    """A logarithmic axis between two decimal logarithms, with about six round ticks, written out.

    plotly's own ticks on less than a decade are bare digits, which read as if they were the values.
    """
    decades = range(math.floor(low), math.ceil(high) + 1)
    span = high - low
    steps = next(steps for below, steps in _LOG_STEPS if span < below)
    every = max(1, math.ceil(span / 6))
    ticks = [step * 10.0**decade for decade, step in itertools.product(decades[::every], steps)]
    shown = [tick for tick in ticks if low <= math.log10(tick) <= high]
    return {
        "type": "log",
        "range": [low, high],
        "tickvals": shown,
        "ticktext": [number(tick) for tick in shown],
        "title": {"text": title},
        "automargin": True,
        "zeroline": False,
    }
