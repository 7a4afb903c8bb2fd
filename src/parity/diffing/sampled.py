"""Decisions and latency: what was sampled has an interval, and is judged by the interval of its change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from parity.diffing.changes import Change, Reading, Trend
from parity.diffing.intervals import (
    DECISIONS_MATTER,
    LATENCY_MATTERS,
    grown,
    moved,
    read_gain,
    read_growth,
    widening,
)
from parity.diffing.outcomes import ended_early, transition
from parity.diffing.pairs import Pair, pairs
from parity.gates.decision import METRICS
from parity.records import DecisionResult, LatencyMeasurement, LatencyResult, Record, Verdict

Times = Mapping[tuple[int, int], LatencyMeasurement]
"""Eager's own measurements by batch size and threads."""

_Result = DecisionResult | LatencyResult

_EAGER_MOVED = "eager moved, and the target not with it: time both again, side by side or where nothing disturbs them"


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """One comparison that waits for the others: how wide an interval of decisions is depends on how many there are.

    Attributes:
        change: It, with both readings, not judged yet, and with the interval of the change where there is one.
        equal: Whether both reports have the very same evidence, which has not changed.
        failed: The gate's message where its verdict went to `fail`, which needs no interval.
        own: The growth of the target's own time where eager may have moved by itself; more is worse.
    """

    change: Change
    equal: bool
    failed: str | None = None
    own: float | None = None


def judged(found: Sequence[Sampled]) -> list[Change]:
    """Every comparison judged, so that two runs of the same thing seldom have anything that is worse.

    Latency has a margin for that. A loss of decisions counts from nothing, so their intervals hold all together.
    """
    comparisons = sum(
        each.change.what == "decision" and _has_interval(each.change.change) and not each.equal for each in found
    )
    return [_judged(each, comparisons) for each in found]


def decisions(target: str, then: Record, now: Record, *, same_samples: bool) -> Iterator[Sampled]:
    """Every metric of every output of one target."""
    for pair in pairs(then.decisions, now.decisions, lambda each: (each.output, each.metric)):
        where: dict[str, str | int] = {"output": pair.either.output, "metric": pair.either.metric}
        old, new = _share(pair.old), _share(pair.new)
        change = Change(target=target, what="decision", where=where, unit="share", old=old, new=new)
        if old is None or new is None:
            found = _one_sided(change, pair, early=ended_early(then, now))
            if found is not None:
                yield found
            continue
        # Equal values over the same samples are as close to unchanged as the margins can say.
        equal = old == new and same_samples
        change = replace(change, change=moved(old, new), least=DECISIONS_MATTER, detail=_flips(pair))
        yield Sampled(change=change, equal=equal, failed=_failed(pair))


def latency(
    target: str, then: Record, now: Record, eager: tuple[Times, Times], *, shown: bool, one_eager: bool
) -> Iterator[Sampled]:
    """The ratio to eager of one target at every batch size and number of threads.

    Args:
        target: Its name.
        then: The old report's record.
        now: The new report's.
        eager: Eager's own times in the old report and in the new one.
        shown: Whether times are told beside the ratio, which is for one class of machine.
        one_eager: Whether both are ratios to the same eager model, run by the same torch, undisturbed.
    """
    for pair in pairs(then.latency, now.latency, lambda each: (each.batch, each.threads)):
        place = (pair.either.batch, pair.either.threads)
        where: dict[str, str | int] = {"batch": place[0], "threads": place[1]}
        old, new = _ratio(pair.old), _ratio(pair.new)
        change = Change(target=target, what="latency", where=where, unit="ratio", old=old, new=new)
        if pair.old is None or pair.new is None:
            found = _one_sided(change, pair, early=ended_early(then, now))
            if found is not None:
                yield found
            continue
        if old is not None and new is not None:
            change = replace(change, change=grown(pair.old, pair.new), least=LATENCY_MATTERS)
        if shown:
            times = [_times("", pair.old, pair.new), _times("eager ", eager[0].get(place), eager[1].get(place))]
            change = replace(change, detail=", ".join(filter(None, times)))
        if old is not None and new is None:
            change = _with(change, Trend.UNKNOWN, "no ratio to eager in the new report: its own times say why")
        own = pair.new.median_ms / pair.old.median_ms if shown and not one_eager and pair.old.median_ms > 0 else None
        equal = _evidence(pair.old) == _evidence(pair.new)
        yield Sampled(change=change, equal=equal, failed=_failed(pair), own=own)


def _judged(sampled: Sampled, comparisons: int) -> Change:
    change = sampled.change
    if sampled.failed is not None:
        return _with(change, Trend.WORSE, sampled.failed)
    if change.verdict is not None or change.old is None or change.new is None:
        return change
    if sampled.equal:
        return replace(change, verdict=Trend.SAME)
    if change.change is None or not _has_interval(change.change):
        return _without_interval(change)
    if change.what == "latency":
        told = read_growth(change.change, LATENCY_MATTERS)
    else:
        told = read_gain(change.change, DECISIONS_MATTER, widening(comparisons))
    if sampled.own is not None and _of_eager(told.trend, sampled.own):
        return _with(replace(change, change=None, least=None), Trend.UNKNOWN, _EAGER_MOVED)
    chance = f"one of {comparisons} comparisons may move as far by chance" if told.by_chance else ""
    return _with(replace(change, effort=told.effort), told.trend, chance)


def _of_eager(trend: Trend, own: float) -> bool:
    """Whether a ratio moved and the target's own time did not by what matters, so that it was eager that did."""
    return (trend is Trend.WORSE and own < LATENCY_MATTERS) or (trend is Trend.BETTER and own > 1 / LATENCY_MATTERS)


def _has_interval(change: Reading | None) -> bool:
    return change is not None and change.low is not None and change.high is not None


def _without_interval(change: Change) -> Change:
    """A metric that no gate judges is information without one, and anything else cannot be told."""
    if change.what == "decision" and change.where["metric"] not in METRICS:
        return replace(change, least=None)
    more = "longer timing" if change.what == "latency" else "more samples"
    return _with(change, Trend.UNKNOWN, f"no interval: {more} would give one")


def _with(change: Change, trend: Trend, said: str) -> Change:
    return replace(change, verdict=trend, detail="; ".join(filter(None, (said, change.detail))))


def _one_sided(change: Change, pair: Pair[_Result], *, early: bool) -> Sampled | None:
    """What only one report has; None where the new target ended before it got there, which its own verdict says."""
    if pair.new is None:
        if early:
            return None
        return Sampled(
            change=_with(change, Trend.UNKNOWN, "not in the new report: measure it there as well"), equal=False
        )
    return Sampled(change=change, equal=False, failed=_failed(pair))


def _failed(pair: Pair[_Result]) -> str | None:
    then, now = pair.old, pair.new
    if now is None or now.verdict is not Verdict.FAIL:
        return None
    if then is None or transition(then.verdict or Verdict.SKIP, now.verdict) is not Trend.WORSE:
        return None
    return now.message or "the gate fails it now"


def _share(result: DecisionResult | None) -> Reading | None:
    return None if result is None else Reading(value=result.value, low=result.low, high=result.high)


def _ratio(result: LatencyResult | None) -> Reading | None:
    if result is None or result.ratio is None or result.ratio <= 0:
        return None
    return Reading(value=result.ratio, low=result.ratio_low, high=result.ratio_high)


def _evidence(result: LatencyResult) -> tuple[object, ...]:
    """What a measurement is known by: no two of them agree in all of it by chance."""
    return (result.median_ms, result.throughput, result.n, result.ratio, result.ratio_low, result.ratio_high)


def _flips(pair: Pair[DecisionResult]) -> str:
    old, new = pair.old, pair.new
    if old is None or new is None or old.flips is None or new.flips is None or old.flips == new.flips:
        return ""
    return f"flipped: {old.flips} of {old.n} -> {new.flips} of {new.n}"


def _times(name: str, old: LatencyMeasurement | None, new: LatencyMeasurement | None) -> str:
    if old is None or new is None:
        return ""
    return f"{name}{old.median_ms:.3g} -> {new.median_ms:.3g} ms"
