"""report.md: compact tables in GitHub's Markdown, as for a step summary.

Names and messages are other people's text, so every character that Markdown or HTML would act on is
escaped, and targets stand in code spans: `onnx@onnxruntime` must not mention a user.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from parity.records import Hazard, Record, Report, Verdict
from parity.reports import summary
from parity.reports.numbers import ABSENT, count, digest, milliseconds
from parity.reports.remarks import remarks
from parity.reports.sections import Section
from parity.reports.speed.lines import Lines
from parity.reports.speed.overview import overview
from parity.reports.speed.places import shared, threads_differ, where

_MARKS = {
    Verdict.PASS: "✅ pass",
    Verdict.FAIL: "❌ fail",
    Verdict.INCONCLUSIVE: "❓ inconclusive",
    Verdict.SKIP: "⏭️ skip",
}


def render(report: Report) -> str:
    """The report as Markdown, which ends with a newline."""
    parts = [
        f"## parity: {_MARKS[report.verdict]}",
        text(summary.sentence(report)),
        *(f"> {text(remark)}" for remark in remarks(report)),
    ]
    if report.records:
        parts.append(_targets(report))
    reading = summary.to_read(report)
    if reading:
        parts += ["### What to read", "\n".join(_reason(record) for record in reading)]
    timed = overview(report)
    if timed:
        parts += [f"### {text(timed.title)}", _section(timed)]
    if report.model.notes:
        parts += ["### Model", "\n".join(f"- {text(note)}" for note in report.model.notes)]
    hazards = report.reference.hazards
    if hazards:
        parts += ["### Hazards", "Advice: what exports may get wrong in this model.", "\n".join(map(_hazard, hazards))]
    golden = summary.golden(report)
    if golden:
        lines = (f"- {_MARKS[each.verdict] if each.verdict else 'note:'} {text(each.message)}" for each in golden)
        parts += ["### Golden", "\n".join(lines)]
    parts.append(_provenance(report))
    return "\n\n".join(parts) + "\n"


def text(value: str) -> str:
    """`value` as one line of Markdown that shows every character of it as it is."""
    line = " ".join(value.split())
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", html.escape(line, quote=False)).replace("@", "&#64;")


def code(value: str) -> str:
    """`value` as a code span that is safe in a table cell."""
    return "`" + " ".join(value.split()).replace("`", "'").replace("|", "\\|") + "`"


def _targets(report: Report) -> str:
    place = shared(report)
    at = "" if place is None else f", {place}"
    error = "floors / limit (error / floor)"
    lines = [
        f"| target | verdict | {error} | decisions | shapes | latency / eager{at} | size | message |",
        "| --- | --- | --: | --: | --- | --: | --: | --- |",
    ]
    for row in summary.rows(report):
        verdict = _MARKS[row.verdict] + (f" {code(row.ended)}" if row.ended else "")
        shapes = " ".join(
            batch if each is Verdict.PASS else f"{batch} {summary.SYMBOLS[each]}" for batch, each in row.shapes
        )
        cells = (
            code(row.target),
            verdict,
            text(row.error[0] + "".join(f" ({each})" for each in row.error[1:])),
            text(" ".join(row.decision)),
            shapes or ABSENT,
            text(_marked(row.latency)),
            text(_marked(row.size)),
            text(row.message),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _marked(lines: Lines) -> str:
    return " ".join(line + (f" {summary.SYMBOLS[verdict]}" if verdict else "") for line, verdict in lines)


def _section(section: Section) -> str:
    """A table of one section; what a number has under it stands beside it in parentheses."""
    more = any(line.more for line in section.lines)
    columns = (*section.columns, *(["verdict"] if section.judged else []), *(["besides"] if more else []))
    lines = [
        f"| {' | '.join(map(text, columns))} |",
        f"| {' | '.join(['---', *(['--:'] * (len(section.columns) - 1)), *(['---'] * (section.judged + more))])} |",
    ]
    for line in section.lines:
        numbers = [_beside(number) for number in line.numbers]
        verdict = [_MARKS[line.verdict] if line.verdict else ABSENT] if section.judged else []
        besides = [text("; ".join(line.more))] if more else []
        lines.append(f"| {' | '.join([code(line.what), *numbers, *verdict, *besides])} |")
    return "\n".join(lines)


def _beside(number: str) -> str:
    first, _, under = number.partition("\n")
    if first == "needs":
        return text(f"{first} {under}")
    return text(f"{first} ({under})" if under else first)


def _reason(record: Record) -> str:
    ended = summary.ended(record)
    head = f"- {_MARKS[record.verdict]} {code(record.target)}" + (f" {code(ended)}" if ended else "")
    found: Iterable[str] = (f"  - {text(reason)}" for reason in summary.reasons(record))
    log = [f"  - log: {code(record.log)}"] if record.log else []
    return "\n".join([head, *found, *log])


def _hazard(found: Hazard) -> str:
    return f"- {text(summary.hazard(found))}" + (f": {code(found.line)}" if found.line else "")


def _provenance(report: Report) -> str:
    model, samples, reference = report.model, report.samples, report.reference
    named = threads_differ(reference.latency)
    timing = [
        f"eager at {where(each, threads_named=named)}: {milliseconds(each.median_ms)}" for each in reference.latency
    ]
    lines = [
        f"model {text(model.name)} from {text(model.source)}",
        f"weights {code(digest(model.weights_sha256))}, code {code(digest(model.code_sha256))}",
        f"{count(samples.n, 'sample')} from {text(samples.source)}, {code(digest(samples.sha256))}",
        f"oracle {text(reference.oracle)}, {count(reference.threads, 'thread')}",
        *([", ".join(timing)] if timing else []),
        f"parity {text(report.parity)}, {text(report.created)}",
    ]
    return "<sub>" + "<br>".join(lines) + "</sub>"
