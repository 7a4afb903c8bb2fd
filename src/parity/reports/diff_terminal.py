"""A comparison of two reports in the terminal: what they do not share, then what changed, then the outcome."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from parity.diffing import Diff, Trend
from parity.reports import diff_words
from parity.reports.diff_words import Row, Section
from parity.reports.numbers import ABSENT

STYLES: dict[Trend | None, str] = {
    Trend.WORSE: "bold red",
    Trend.UNKNOWN: "yellow",
    Trend.BETTER: "green",
    Trend.SAME: "dim",
    None: "dim",
}

_ROOM_FOR_DETAILS = 150
"""Columns from which the tables have a column of details; below it, details are listed under each table."""

_NARROW = 18
_NARROW_VALUE = 13
"""Five columns of these fit into eighty."""


def print_diff(diff: Diff, console: Console, *, everything: bool = False) -> None:
    """Print what the reports do not share, a table for each trend, and the outcome in the last line."""
    wide = console.width >= _ROOM_FOR_DETAILS
    for name, text in diff_words.sides(diff):
        console.print(Text.assemble((name, "dim"), "  ", text))
    if diff.differences:
        console.print(Text("Not shared", style="bold"))
    for found in diff.differences:
        console.print(Padding(Text(diff_words.difference(found), style="yellow" if found.bars else ""), (0, 0, 0, 2)))
    for section in diff_words.sections(diff, everything=everything):
        console.print(Text(f"{section.head} ({section.cells})", style=STYLES[section.trend]))
        console.print(_table(section, wide=wide))
        for row in () if wide else section.rows:
            _print_detail(row, console)
    hidden = "" if everything else diff_words.unlisted(diff)
    if hidden:
        console.print(Text(hidden, style="dim"))
    word, _, rest = diff_words.sentence(diff).partition(":")
    console.print(Text.assemble((word, STYLES[diff.verdict]), f":{rest}"))


def _table(section: Section, *, wide: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("target", overflow="fold", max_width=None if wide else _NARROW)
    table.add_column("what", overflow="fold", max_width=None if wide else _NARROW)
    for head in ("old", "new", "change"):
        table.add_column(head, overflow="fold", justify="right", max_width=None if wide else _NARROW_VALUE)
    if wide:
        table.add_column("detail", overflow="fold", ratio=1)
    for row in section.rows:
        target = row.target if wide else row.target.replace("@", "\n@")
        cells = [row.what, *("\n".join(each) for each in (row.old, row.new, row.change))]
        if not wide:
            cells[1:] = [cell if cell == ABSENT else cell.replace("/", "/\n") for cell in cells[1:]]
        table.add_row(*map(Text, (target, *cells, *([row.detail] if wide else []))))
    return table


def _print_detail(row: Row, console: Console) -> None:
    if row.detail:
        console.print(Padding(Text.assemble((f"{row.target}, {row.what}", "bold"), f": {row.detail}"), (0, 0, 0, 2)))
