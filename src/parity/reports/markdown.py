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
    batch = summary.shared_batch(report)
    at = "" if batch is None else f", batch {batch}"
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
            text(" ".join(row.latency)),
            row.size,
            text(row.message),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


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
    timing = [f"eager at batch {each.batch}: {milliseconds(each.median_ms)}" for each in reference.latency]
    lines = [
        f"model {text(model.name)} from {text(model.source)}",
        f"weights {code(digest(model.weights_sha256))}, code {code(digest(model.code_sha256))}",
        f"{count(samples.n, 'sample')} from {text(samples.source)}, {code(digest(samples.sha256))}",
        f"oracle {text(reference.oracle)}, {count(reference.threads, 'thread')}",
        *([", ".join(timing)] if timing else []),
        f"parity {text(report.parity)}, {text(report.created)}",
    ]
    return "<sub>" + "<br>".join(lines) + "</sub>"
