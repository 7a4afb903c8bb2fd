"""report.html: one file that needs no network, readable in light, dark, wide and narrow."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs  # type: ignore[import-untyped,unused-ignore]
from pydantic_core import to_json

from parity.records import Report
from parity.reports import details, provenance, summary
from parity.reports.axes import Plot
from parity.reports.plots import plots
from parity.reports.remarks import remarks
from parity.reports.speed import tables
from parity.reports.speed.overview import overview
from parity.reports.speed.places import shared


def render(report: Report) -> str:
    """The report as one HTML page; every text of the records is escaped.

    plotly.js is embedded once, and not at all in a report that has nothing to plot.
    """
    made = plots(report)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            rows=summary.rows(report),
            place=shared(report),
            timed=overview(report),
            plots=made,
            figures=_script_json(made),
            plotly_js=Markup(get_plotlyjs()) if made else None,  # noqa: S704 - plotly's own source
        )
    )


def _script_json(made: tuple[Plot, ...]) -> Markup:
    """The figures as JSON that cannot end the script element which holds it."""
    # plotly.js leaves a gap at null, which is all that can be drawn of a time that is not finite.
    text = to_json({plot.name: plot.figure for plot in made}, inf_nan_mode="null").decode()
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - escaped above


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("parity.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    helpers: dict[str, Any] = {
        "summary": summary, "details": details, "provenance": provenance, "remarks": remarks,
        "reference_speed": tables.reference_sections,
    }  # fmt: skip
    environment.globals.update(helpers)
    return environment
