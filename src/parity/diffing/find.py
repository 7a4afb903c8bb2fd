"""Every change between two reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from parity.diffing.basis import barred, find_differences, limits_moved, one_eager, same_samples, timed
from parity.diffing.changes import DIFF_SCHEMA, Change, Diff, Difference, Side, Trend, trend_of
from parity.diffing.facts import eager_facts, target_facts
from parity.diffing.outcomes import ends, only_in_one, whole
from parity.diffing.pairs import pairs
from parity.diffing.sampled import Sampled, Times, decisions, judged, latency
from parity.diffing.values import errors, sizes
from parity.records import Record, Report


def find_changes(old: Report, new: Report) -> Diff:
    """Hold two reports side by side, cell by cell.

    Every cell that both have is a change, unchanged ones as well, in the order of the new report. What they rest
    on and do not share comes apart, and cells that cannot be compared for it are not judged.
    """
    differences = find_differences(old, new)
    found = list(_changes(old, new, differences))
    settled = iter(judged([each for each in found if isinstance(each, Sampled)]))
    changes = tuple(_barred(next(settled) if isinstance(each, Sampled) else each, differences) for each in found)
    return Diff(
        schema=DIFF_SCHEMA,
        old=_side(old),
        new=_side(new),
        differences=differences,
        changes=changes,
        verdict=trend_of(changes),
    )


def _side(report: Report) -> Side:
    return Side(model=report.model.name, created=report.created, parity=report.parity, verdict=report.verdict)


def _changes(old: Report, new: Report, differences: Sequence[Difference]) -> Iterator[Change | Sampled]:
    """Changes, and comparisons that wait for each other, in the order in which they are told."""
    yield from whole(old, new, differences)
    one_machine = barred(differences, "startup") is None
    if timed(old) != timed(new):
        yield _timed_once(timed_then=timed(old))
    for pair in pairs(old.records, new.records, lambda each: each.target):
        if pair.old is None or pair.new is None:
            yield only_in_one(pair)
        else:
            yield from _target(pair.old, pair.new, (old, new), differences, one_machine=one_machine)
    if one_machine:
        yield from eager_facts(old, new)


def _target(
    then: Record, now: Record, reports: tuple[Report, Report], differences: Sequence[Difference], *, one_machine: bool
) -> Iterator[Change | Sampled]:
    target, same, moved = now.target, same_samples(differences), limits_moved(differences)
    yield from ends(target, then, now, differences)
    yield from errors(target, then, now, same_samples=same, moved=moved)
    yield from decisions(target, then, now, same_samples=same)
    if timed(reports[0]) == timed(reports[1]):
        eager = _eager(reports[0]), _eager(reports[1])
        yield from latency(target, then, now, eager, shown=one_machine, one_eager=one_eager(*reports, differences))
    yield from sizes(target, then, now)
    if one_machine:
        yield from target_facts(target, then, now)


def _eager(report: Report) -> Times:
    return {(each.batch, each.threads): each for each in report.reference.latency}


def _timed_once(*, timed_then: bool) -> Change:
    which = "new" if timed_then else "old"
    detail = f"the {which} report was not timed: make it without --no-latency"
    return Change(what="latency", where={}, unit="ratio", verdict=Trend.UNKNOWN, detail=detail)


def _barred(change: Change, differences: Sequence[Difference]) -> Change:
    """The change without a judgement where the reports do not share what it rests on."""
    difference = barred(differences, change.what)
    if difference is None or change.verdict is None or change.old == change.new:
        return change
    return replace(change, verdict=Trend.UNKNOWN, change=None, least=None, detail=difference.consequence)
