"""How targets ended: verdicts of the report, its targets, their shapes, behaviour and budgets, and of the golden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parity.diffing.basis import limits_moved
from parity.diffing.changes import Change, Difference, Reading, Trend
from parity.diffing.pairs import Pair, pairs
from parity.records import (
    BehaviourResult,
    BudgetResult,
    GoldenResult,
    Record,
    Report,
    ShapeResult,
    Stage,
    Symptom,
    Verdict,
)

Part = BehaviourResult | BudgetResult | GoldenResult | ShapeResult
"""A part of a report that has a verdict and a message of its own."""

_OPEN = (Verdict.INCONCLUSIVE, Verdict.SKIP)


def transition(then: Verdict | None, now: Verdict | None, *, moved: bool = False) -> Trend | None:
    """The trend from one verdict to another, or None where it is information only.

    What fails now is worse than what did not; what passes now is better than what did not. Between a verdict and
    none, something is no longer known (or not yet), which cannot be told. Where limits or waivers moved, passing
    may be theirs.

    Args:
        then: The old report's, None where it did not judge.
        now: The new report's.
        moved: Whether limits or waivers are others.
    """
    if then is now:
        return Trend.SAME
    if then is None or now is None:
        return None
    if now is Verdict.FAIL:
        return Trend.WORSE
    if now is Verdict.PASS and not moved:
        return Trend.BETTER
    return Trend.SAME if then in _OPEN and now in _OPEN else Trend.UNKNOWN


def whole(old: Report, new: Report, differences: Sequence[Difference]) -> Iterator[Change]:
    """The verdict of the report, and those of the golden, which belong to no target."""
    moved = limits_moved(differences)
    yield Change(
        what="verdict", where={}, unit="verdict", old=Reading(value=str(old.verdict)),
        new=Reading(value=str(new.verdict)), verdict=transition(old.verdict, new.verdict, moved=moved),
    )  # fmt: skip
    for pair in pairs(old.golden, new.golden, lambda each: (each.kind, each.name)):
        where: dict[str, str | int] = {"kind": pair.either.kind, "name": pair.either.name}
        if pair.either.verdict is not None:
            yield from _change(None, "golden", where, pair, moved=moved)


def ends(target: str, then: Record, now: Record, differences: Sequence[Difference]) -> Iterator[Change]:
    """How one target ended in both reports, as a whole and in its parts."""
    moved = limits_moved(differences)
    trend = transition(then.verdict, now.verdict, moved=moved)
    old, new = _ended(then), _ended(now)
    detail = now.message if then.verdict is not now.verdict else ""
    if trend is Trend.SAME and old != new:
        # Which way of failing is the better one is for nobody's numbers to say.
        trend = Trend.UNKNOWN if now.verdict is Verdict.FAIL else None
        detail = f"{now.verdict} both times, in another way: {now.message}"
    elif trend is Trend.UNKNOWN:
        detail = _why(now.verdict, now.message, moved=moved)
    yield Change(
        target=target, what="verdict", where={}, unit="verdict", old=Reading(value=old), new=Reading(value=new),
        verdict=trend, detail=detail,
    )  # fmt: skip
    early = ended_early(then, now)
    for shape in pairs(then.shapes, now.shapes, lambda each: each.shape):
        sizes: dict[str, str | int] = {"batch": shape.either.batch, **(shape.either.sizes or {})}
        yield from _change(target, "shape", sizes, shape, moved=moved, early=early)
    for behaviour in pairs(then.behaviour, now.behaviour, lambda each: (each.kind, each.name)):
        named: dict[str, str | int] = {"kind": behaviour.either.kind, "name": behaviour.either.name}
        yield from _change(target, "behaviour", named, behaviour, moved=moved, early=early)
    for budget in pairs(then.budgets, now.budgets, lambda each: (each.metric, each.batch, each.threads)):
        yield from _change(target, "budget", _budget(budget.either), budget, moved=moved, early=early)


def only_in_one(pair: Pair[Record]) -> Change:
    """A target that only one of the reports has: nothing to hold it against, unless nothing was ever judged."""
    record = pair.either
    reading = Reading(value=_ended(record))
    if pair.old is None:
        trend = Trend.UNKNOWN if record.verdict is Verdict.FAIL else None
        detail = "new: the old report has no such target" + (f"; {record.message}" if record.message else "")
        return Change(
            target=record.target, what="verdict", where={}, unit="verdict", new=reading, verdict=trend, detail=detail
        )
    trend = None if record.verdict is Verdict.SKIP else Trend.UNKNOWN
    detail = "gone: the new report has no such target; judge it again, or drop it from both"
    return Change(
        target=record.target, what="verdict", where={}, unit="verdict", old=reading, verdict=trend, detail=detail
    )


def ended_early(then: Record, now: Record) -> bool:
    """Whether the new one ended before the old one did, so that whatever it lacks needs no word of its own."""
    order = list(Stage)
    return order.index(now.stage) < order.index(then.stage) and now.symptom is not Symptom.OK


def _change(
    target: str | None, what: str, where: dict[str, str | int], pair: Pair[Part], *, moved: bool, early: bool = False
) -> Iterator[Change]:
    """One part; none where the new target ended before it got there, which its own verdict says."""
    then, now = (None if each is None else each.verdict for each in (pair.old, pair.new))
    old, new = (None if each is None else Reading(value=str(each)) for each in (then, now))
    if pair.new is None and early:
        return
    trend = transition(then, now, moved=moved)
    detail = (pair.new.message or "") if pair.new is not None and then is not now else ""
    if pair.new is None:
        trend = None if then in {None, Verdict.SKIP} else Trend.UNKNOWN
        detail = "not in the new report: judge it there as well"
    elif trend is Trend.UNKNOWN:
        detail = _why(now, detail, moved=moved)
    yield Change(target=target, what=what, where=where, unit="verdict", old=old, new=new, verdict=trend, detail=detail)


def _why(now: Verdict | None, message: str, *, moved: bool) -> str:
    """Why a verdict's change cannot be told, and what would tell."""
    if now is Verdict.PASS and moved:
        return "passes under other limits or waivers: judge both under the same"
    known = "not judged" if now is Verdict.SKIP else "no longer decided"
    return f"{known}: {message}" if message else f"{known} in the new report"


def _budget(budget: BudgetResult) -> dict[str, str | int]:
    places = {"batch": budget.batch, "threads": budget.threads}
    return {"metric": budget.metric, **{name: value for name, value in places.items() if value is not None}}


def _ended(record: Record) -> str:
    """`pass`, or with where and how it ended: `fail (run/crash)`."""
    if record.stage is Stage.DONE and record.symptom is Symptom.OK:
        return str(record.verdict)
    return f"{record.verdict} ({record.stage}/{record.symptom})"
