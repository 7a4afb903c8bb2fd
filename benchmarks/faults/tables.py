"""The summary as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from rich.table import Table

from benchmarks.faults.results import NetworkResult, PlantedFault
from benchmarks.faults.summary import SMALLEST_EFFECT, Summary, Tally, needed


def tables(summary: Summary, results: Sequence[NetworkResult]) -> Iterator[Table]:
    """The rules, the gate by family of faults, healthy cells by target, what was missed, and what is left out."""
    title = f"{summary.networks} networks of {summary.architectures} architectures"
    yield _rules(title, summary.rules)
    if summary.apart[0].faults:
        yield _rules("networks that round their own activations, counted apart", summary.apart)
    yield _families(summary)
    yield _targets(summary)
    if summary.missed:
        yield _missed(summary.missed)
    if summary.alarmed:
        yield _alarmed(summary)
    yield _left_out(summary, results)


def _table(title: str, *columns: str, text: int = 1) -> Table:
    table = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < text else "right", overflow="fold")
    return table


def _rules(title: str, tallies: Sequence[Tally]) -> Table:
    table = _table(title, "rule", "faults found", "of", "%", "left open", "false alarms", "of")
    for each in tallies:
        share = f"{100 * each.share:.1f}"
        left_open = str(each.left_open or "")
        table.add_row(
            each.rule, str(each.found), str(each.faults), share, left_open, str(each.alarms), str(each.healthy)
        )
    return table


def _families(summary: Summary) -> Table:
    table = _table("faults by family, at the default limit", "family", "found", "of", "%")
    for name, each in summary.families.items():
        table.add_row(name, str(each.found), str(each.faults), f"{100 * each.share:.1f}")
    return table


def _targets(summary: Summary) -> Table:
    table = _table("healthy cells: the limit in floors that each needs", "target", "cells", "median", "largest")
    for name, ratios in summary.targets.items():
        table.add_row(name, str(len(ratios)), f"{median(ratios):.2f}", f"{max(ratios):.2f}")
    return table


def _missed(faults: Sequence[PlantedFault]) -> Table:
    table = _table("missed", "fault", "effect", "error", "floor", "ratio", "why")
    for fault in faults:
        judged = fault.judged
        if judged is None:
            continue
        effect = "" if fault.effect is None else f"{fault.effect:.2g}"
        numbers = ("" if each is None else f"{each:.2g}" for each in (judged.error, judged.floor, judged.ratio))
        table.add_row(fault.name, effect, *numbers, why(fault))
    return table


def why(fault: PlantedFault) -> str:
    """Why the gate let a fault pass."""
    judged = fault.judged
    if judged is None:
        return ""
    if judged.verdict != "pass":
        return f"{judged.verdict}: {judged.message}"
    if judged.ratio is not None and needed(fault) < judged.ratio:
        return "within the allowance for long sums"
    return "under the limit"


def _alarmed(summary: Summary) -> Table:
    table = _table("false alarms", "network", "target", "message", text=3)
    for network, cell in summary.alarmed:
        table.add_row(network, cell.target, cell.judged.message)
    return table


def _left_out(summary: Summary, results: Sequence[NetworkResult]) -> Table:
    table = _table("left out", "what", "number", text=1)
    table.add_row(f"faults that move the outputs by {SMALLEST_EFFECT:g} or less", str(len(summary.without_effect)))
    table.add_row("edited graphs that do not run", str(len(summary.not_running)))
    table.add_row("healthy cells with the outputs of eager or of an earlier cell, bit by bit", str(summary.alike))
    table.add_row("healthy cells that were inconclusive", str(summary.undecided))
    for result in results:
        for target, reason in result.missing.items():
            table.add_row(f"{result.network}, {target}: {' '.join(reason.split())[:90]}", "")
    return table
