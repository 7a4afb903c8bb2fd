"""Errors in floors, and the sizes of artifacts and of memory: numbers without an interval, held to their resolution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from parity.diffing.changes import Change, Reading, Trend
from parity.diffing.outcomes import ended_early, transition
from parity.diffing.pairs import Pair, pairs
from parity.gates.golden import GROWTH, NOTABLE
from parity.records import NumericResult, Record, Verdict

NUMERIC_MATTERS = GROWTH
"""The resolution of an error ratio: error and floor are both the largest of what a few hundred samples happened to
show, and each may move by as much from one draw, kernel or thread count to the next. Below `NOTABLE` floors nothing
has moved whatever the factor."""

SQNR_MATTERS = 3.0
"""The smallest change of a signal-to-quantization-noise ratio that matters, in dB: twice or half the power of the
noise, half a bit of every number."""

SIZE_MATTERS = 1.05
LEAST_BYTES = 64 * 1024
"""The smallest growth of an artifact that matters, as a factor and in bytes: exports keep names of modules, source
lines and paths, which move by kilobytes with the code and the folder alone."""

MEMORY_MATTERS = 1.25
LEAST_MEMORY = 32 * 1024 * 1024
"""The smallest growth of peak memory that matters, as a factor and in bytes: it is one reading of a process whose
allocators keep what they once had, in steps of megabytes, one for each thread."""


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What the numbers of one output say, whatever their verdicts."""

    unit: str
    old: float | str
    new: float | str
    trend: Trend
    change: float | None = None
    least: float | None = None
    detail: str = ""


def errors(target: str, then: Record, now: Record, *, same_samples: bool, moved: bool) -> Iterator[Change]:
    """The numeric result of every output of one target.

    Args:
        target: Its name.
        then: The old report's record.
        now: The new report's.
        same_samples: Whether both judged the same samples.
        moved: Whether limits or waivers are others.
    """
    early = ended_early(then, now)
    for pair in pairs(then.numeric, now.numeric, lambda each: each.output):
        if pair.old is not None and pair.new is not None:
            yield _error(target, pair.old, pair.new, same_samples=same_samples, moved=moved)
        elif pair.new is not None or not early:
            yield _one_sided(target, pair)


def sizes(target: str, then: Record, now: Record) -> Iterator[Change]:
    """The bytes of one target's artifact, and the peak memory of running it and of timing it."""
    if then.export is not None and now.export is not None:
        yield _bytes(target, "size", {}, then.export.bytes, now.export.bytes)
    if then.memory is not None and now.memory is not None:
        yield _bytes(target, "memory", {}, then.memory.peak_bytes, now.memory.peak_bytes)
    for pair in pairs(then.latency, now.latency, lambda each: (each.batch, each.threads)):
        old, new = (None if each is None else each.peak_bytes for each in (pair.old, pair.new))
        if old is not None and new is not None:
            yield _bytes(target, "memory", {"batch": pair.either.batch, "threads": pair.either.threads}, old, new)


def _error(target: str, then: NumericResult, now: NumericResult, *, same_samples: bool, moved: bool) -> Change:
    seen = _floors(then, now) or _noise(then, now) or _counts(then, now, same_samples=same_samples) or _rules(then, now)
    trend, detail = seen.trend, seen.detail
    judged = transition(then.verdict, now.verdict, moved=moved)
    if judged is Trend.WORSE or (judged is Trend.UNKNOWN and trend in {Trend.SAME, Trend.BETTER}):
        trend, detail = judged, now.message or now.detail or f"{then.verdict} before, {now.verdict} now"
    elif judged is Trend.BETTER and trend is Trend.SAME:
        trend = judged
    return Change(
        target=target, what="numeric", where={"output": now.output}, unit=seen.unit, old=Reading(value=seen.old),
        new=Reading(value=seen.new), change=None if seen.change is None else Reading(value=seen.change),
        least=seen.least, verdict=trend, detail=detail,
    )  # fmt: skip


def _floors(then: NumericResult, now: NumericResult) -> _Seen | None:
    if then.ratio is None or now.ratio is None:
        return None
    old, new = _number(then.ratio), _number(now.ratio)
    trend = Trend.SAME
    if _notable(now) and new > GROWTH * old:
        trend = Trend.WORSE
    elif _notable(then) and old > GROWTH * new:
        trend = Trend.BETTER
    change = new / old if 0 < old < math.inf else None
    return _Seen(unit="floors", old=old, new=new, trend=trend, change=change, least=NUMERIC_MATTERS)


def _number(ratio: float) -> float:
    return math.inf if math.isnan(ratio) else ratio


def _notable(result: NumericResult) -> bool:
    """Whether an error is more than luck, and more than long sums may cost in any order."""
    if result.error is not None and result.allowance is not None and result.error <= result.allowance:
        return False
    return result.ratio is not None and _number(result.ratio) > NOTABLE


def _noise(then: NumericResult, now: NumericResult) -> _Seen | None:
    if then.sqnr_db is None or now.sqnr_db is None or {then.rule, now.rule} != {"sqnr"}:
        return None
    change = now.sqnr_db - then.sqnr_db
    trend = Trend.WORSE if change < -SQNR_MATTERS else Trend.BETTER if change > SQNR_MATTERS else Trend.SAME
    return _Seen(unit="dB", old=then.sqnr_db, new=now.sqnr_db, trend=trend, change=change, least=SQNR_MATTERS)


def _counts(then: NumericResult, now: NumericResult, *, same_samples: bool) -> _Seen | None:
    """Values that differ where they have to be equal: over the same samples, every one of them counts."""
    if then.mismatched is None or now.mismatched is None:
        return None
    more = now.mismatched - then.mismatched
    trend = Trend.SAME if not more else Trend.WORSE if more > 0 else Trend.BETTER
    detail = ""
    if more and not same_samples:
        trend, detail = Trend.UNKNOWN, "counted over other samples: the same ones would tell"
    return _Seen(unit="values", old=then.mismatched, new=now.mismatched, trend=trend, detail=detail)


def _rules(then: NumericResult, now: NumericResult) -> _Seen:
    """Nothing but verdicts to go by, where one of them was measured by another rule."""
    trend, detail = Trend.SAME, ""
    if then.rule != now.rule:
        trend, detail = Trend.UNKNOWN, f"measured by another rule: {then.rule} before, {now.rule} now"
    return _Seen(unit="verdict", old=str(then.verdict), new=str(now.verdict), trend=trend, detail=detail)


def _one_sided(target: str, pair: Pair[NumericResult]) -> Change:
    """An output that only one report has; a structural failure of it is in the target's own verdict."""
    gone = pair.new is None and pair.either.verdict is not Verdict.SKIP
    old, new = (None if each is None else Reading(value=str(each.verdict)) for each in (pair.old, pair.new))
    return Change(
        target=target, what="numeric", where={"output": pair.either.output}, unit="verdict", old=old, new=new,
        verdict=Trend.UNKNOWN if gone else None,
        detail="not in the new report: judge it there as well" if gone else "",
    )  # fmt: skip


def _bytes(target: str, what: str, where: dict[str, str | int], old: int, new: int) -> Change:
    factor, least = (SIZE_MATTERS, LEAST_BYTES) if what == "size" else (MEMORY_MATTERS, LEAST_MEMORY)
    trend = Trend.SAME
    if new > factor * old and new - old > least:
        trend = Trend.WORSE
    elif old > factor * new and old - new > least:
        trend = Trend.BETTER
    change = Reading(value=new / old) if old > 0 else None
    return Change(
        target=target, what=what, where=where, unit="bytes", old=Reading(value=old), new=Reading(value=new),
        change=change, least=factor, verdict=trend,
    )  # fmt: skip
