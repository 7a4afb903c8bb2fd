"""A report and a record in the terminal, as wide as the console is; plain text where it is not one."""

from __future__ import annotations

import textwrap

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from parity.records import Record, Report, Verdict
from parity.reports import details, provenance, summary
from parity.reports.remarks import remarks
from parity.reports.sections import Section
from parity.reports.speed import budgets, tables
from parity.reports.speed.lines import Lines
from parity.reports.speed.places import shared
from parity.reports.summary import Row

STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.SKIP: "dim",
}

_ROOM_FOR_MESSAGES = 130
"""Columns from which the table has a message column; below it, messages are listed under the table."""

_MOST_HAZARDS = 6
_MOST_NOTES = 8
"""In the terminal; the files have all of them."""

_MARKS = {Verdict.FAIL: "!", Verdict.INCONCLUSIVE: "?", Verdict.SKIP: "-"}

_NARROW_NAME = 13
_SHARES = len("0.882..0.922")
_RATIOS = len("0.0882..0.922")


def print_report(report: Report, console: Console) -> None:
    """Print one row a target, then what failed or is inconclusive and why, then the verdict line."""
    wide = console.width >= _ROOM_FOR_MESSAGES
    if report.records:
        console.print(_table(report, wide=wide))
    reading = summary.to_read(report)
    rest = () if wide else tuple(each for each in report.records if each.message and each not in reading)
    for record in (*reading, *rest):
        _print_reasons(record, console)
    _print_notes(report, console)
    _print_hazards(report, console)
    _print_golden(report, console)
    _print_sweep(report, console)
    for remark in remarks(report):
        console.print(Text(remark, style="yellow"))
    console.print(_verdict_line(report))


def print_record(report: Report, record: Record, console: Console) -> None:
    """Print everything known about one record, each number beside what it is held against."""
    title = Text.assemble((record.target, "bold"), f" of {report.model.name}: ", verdict_text(record.verdict))
    ended = summary.ended(record)
    console.print(title.append(f" ({ended})") if ended else title)
    for reason in summary.reasons(record):
        console.print(Padding(Text(reason), (0, 0, 0, 2)))
    timed = tables.reference_sections(report) if record.latency else ()
    for section in (*details.sections(report, record), *timed):
        console.print()
        # As the table's own title it would be wrapped to the table's width.
        console.print(Text(section.title, style="bold"))
        console.print(_section_table(section))
        for line in section.lines:
            if line.more:
                console.print(Padding(Text(f"{line.what}: {'; '.join(line.more)}"), (0, 0, 0, 2)))
        for note in section.notes:
            console.print(Padding(Text(note, style="yellow"), (0, 0, 0, 2)))
    known = (*details.facts(record), *(provenance.timing_facts(report) if record.latency else ()))
    if known:
        console.print()
        console.print(_pairs(known))


def verdict_text(verdict: Verdict) -> Text:
    """The verdict as a coloured word; only `FAIL` is in capitals, so that it is seen without colour."""
    word = str(verdict).upper() if verdict is Verdict.FAIL else str(verdict)
    return Text(word, style=STYLES[verdict])


def _table(report: Report, *, wide: bool) -> Table:
    place = shared(report)
    at = "" if place is None else f"\n{place}".replace(", ", "\n")
    # The box already puts one space between columns; eighty columns have no room for another.
    padding = (0, 1, 0, 0) if wide else (0, 0, 0, 0)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=padding, show_edge=False)
    table.add_column("target", overflow="fold", min_width=_NARROW_NAME)
    table.add_column("verdict", no_wrap=True)
    table.add_column("floors / limit\nerror / floor", overflow="fold", justify="right", max_width=None if wide else 9)
    table.add_column("decisions", overflow="fold", justify="right", min_width=_SHARES)
    table.add_column("shapes", overflow="fold", max_width=None if wide else 7)
    table.add_column(f"latency / eager{at}", overflow="fold", justify="right", min_width=_RATIOS, max_width=_RATIOS)
    table.add_column("size", no_wrap=True, justify="right")
    if wide:
        table.add_column("message", overflow="fold", ratio=1)
    for row in summary.rows(report):
        verdict = verdict_text(row.verdict)
        ended = row.ended if wide else row.ended.replace("/", "/\n")
        cells = [
            Text(row.target if wide else _narrow(row.target)),
            verdict.append(f"\n{ended}", style="default") if ended else verdict,
            Text("\n".join(row.error)),
            Text("\n".join(row.decision)),
            _shapes(row),
            _marked(row.latency),
            _marked(row.size),
        ]
        table.add_row(*cells, *([Text(row.message)] if wide else []))
    return table


def _narrow(target: str) -> str:
    """The target's name on several lines, broken before `@` and after hyphens."""
    exporter, at, runtime = target.partition("@")
    parts = [exporter, at + runtime] if at else [exporter]
    return "\n".join(line for part in parts for line in textwrap.wrap(part, _NARROW_NAME))


def _shapes(row: Row) -> Text:
    """Batch sizes, those that did not pass in colour and with a sign: `1 2 3 8! 32?`."""
    parts = [Text(batch + _MARKS.get(verdict, ""), style=STYLES[verdict]) for batch, verdict in row.shapes]
    return Text(" ").join(parts) if parts else Text("n/a")


def _marked(lines: Lines) -> Text:
    """Lines of a cell, those with a verdict in its colour and with a sign: `1.21!`."""
    return Text("\n").join(
        Text(text) if verdict is None else Text(text + _MARKS.get(verdict, ""), style=STYLES[verdict])
        for text, verdict in lines
    )


def _print_reasons(record: Record, console: Console) -> None:
    head = Text.assemble(verdict_text(record.verdict), " ", (record.target, "bold"))
    ended = summary.ended(record)
    console.print(head.append(f" ({ended})") if ended else head)
    for reason in summary.reasons(record):
        console.print(Padding(Text(reason), (0, 0, 0, 2)))
    if record.log:
        # A path is for copying, so it is never wrapped.
        console.print(Text(f"  log: {record.log}"), soft_wrap=True)


def _print_notes(report: Report, console: Console) -> None:
    """What was done to have the model: guessed, removed, left out. A reader has to know before the verdict counts."""
    if report.model.notes:
        console.print(Text("Model", style="bold"))
    for note in report.model.notes[:_MOST_NOTES]:
        console.print(Padding(Text(note), (0, 0, 0, 2)))
    if len(report.model.notes) > _MOST_NOTES:
        console.print(Text(f"  and {len(report.model.notes) - _MOST_NOTES} more in the report", style="dim"))


def _print_hazards(report: Report, console: Console) -> None:
    found = report.reference.hazards
    if found:
        console.print(Text.assemble(("Hazards", "bold"), " (advice: what exports may get wrong in this model)"))
    for each in found[:_MOST_HAZARDS]:
        source = f": {each.line}" if each.line else ""
        console.print(Padding(Text(summary.hazard(each) + source), (0, 0, 0, 2)))
    if len(found) > _MOST_HAZARDS:
        console.print(Text(f"  and {len(found) - _MOST_HAZARDS} more in the report", style="dim"))


def _print_golden(report: Report, console: Console) -> None:
    found = summary.golden(report)
    if found:
        console.print(Text("Golden", style="bold"))
    for result in found:
        word = verdict_text(result.verdict) if result.verdict else Text("note")
        console.print(Padding(Text.assemble(word, " ", result.message), (0, 0, 0, 2)))


def _print_sweep(report: Report, console: Console) -> None:
    """What fits into a budget for one call, which somebody asked for and would miss in the table."""
    found = budgets.sweep_lines(report)
    if found:
        console.print(Text(budgets.sweep_title(report), style="bold"))
    for line in found:
        console.print(Padding(Text(line), (0, 0, 0, 2)))


def _verdict_line(report: Report) -> Text:
    line = summary.sentence(report)
    word, _, rest = line.partition(":")
    return Text.assemble((word, STYLES[report.verdict]), f":{rest}")


def _section_table(section: Section) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(section.columns[0], overflow="fold", max_width=28)
    for column in section.columns[1:]:
        table.add_column(column, overflow="fold", justify="right")
    if section.judged:
        table.add_column("verdict", no_wrap=True)
    for line in section.lines:
        verdict = verdict_text(line.verdict) if line.verdict else Text("n/a")
        cells = [Text(text) for text in (line.what, *line.numbers)]
        table.add_row(*cells, *([verdict] if section.judged else []))
    return table


def _pairs(known: tuple[tuple[str, str], ...]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in known:
        table.add_row(Text(name), Text(value))
    return table
