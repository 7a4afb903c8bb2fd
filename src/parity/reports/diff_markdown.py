"""A comparison of two reports in GitHub's Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Mapping

from parity.diffing import Diff, Trend
from parity.reports import diff_words
from parity.reports.diff_words import Section
from parity.reports.markdown import code, text

_MARKS: Mapping[Trend, str] = {
    Trend.WORSE: "❌ worse",
    Trend.UNKNOWN: "❓ cannot be told",
    Trend.BETTER: "✅ better",
    Trend.SAME: "✅ the same",
}


def render_diff(diff: Diff, *, everything: bool = False) -> str:
    """The comparison as Markdown, which ends with a newline."""
    parts = [f"## parity diff: {_MARKS[diff.verdict]}", text(diff_words.sentence(diff))]
    if diff.differences:
        lines = (f"- {text(diff_words.difference(found))}" for found in diff.differences)
        parts += ["### Not shared", "\n".join(lines)]
    for section in diff_words.sections(diff, everything=everything):
        parts += [f"### {section.head} ({section.cells})", _table(section)]
    hidden = "" if everything else diff_words.unlisted(diff)
    parts += [text(hidden)] if hidden else []
    parts.append("<sub>" + "<br>".join(f"{name}: {text(side)}" for name, side in diff_words.sides(diff)) + "</sub>")
    return "\n\n".join(parts) + "\n"


def _table(section: Section) -> str:
    lines = ["| target | what | old | new | change | detail |", "| --- | --- | --: | --: | --: | --- |"]
    for row in section.rows:
        values = (_value(each) for each in (row.old, row.new, row.change))
        cells = (code(row.target) if "@" in row.target else text(row.target), text(row.what), *values, text(row.detail))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _value(parts: tuple[str, ...]) -> str:
    return text(parts[0] + "".join(f" ({each})" for each in parts[1:])) if parts else ""
