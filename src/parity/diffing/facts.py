"""Absolute times and what follows from them: information, which nothing is judged by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from parity.diffing.changes import Change, Reading
from parity.diffing.pairs import pairs
from parity.records import LatencyMeasurement, Record, Report, StartupFacts, SweepFacts

REFERENCE = "reference"
"""What the reference's own times stand under."""


def eager_facts(old: Report, new: Report) -> Iterator[Change]:
    """The reference's own times, startup and best batch."""
    then, now = old.reference, new.reference
    for pair in pairs(then.latency, now.latency, lambda each: (each.batch, each.threads)):
        where: dict[str, str | int] = {"batch": pair.either.batch, "threads": pair.either.threads}
        if pair.old is not None and pair.new is not None:
            yield _change(REFERENCE, "latency", where, "ms", map(_median, (pair.old, pair.new)))
    yield from _facts(REFERENCE, then.startup, now.startup, then.sweep, now.sweep)


def target_facts(target: str, then: Record, now: Record) -> Iterator[Change]:
    """Startup and best batch of one target."""
    yield from _facts(target, then.startup, now.startup, then.sweep, now.sweep)


def _facts(
    target: str,
    then: Iterable[StartupFacts],
    now: Iterable[StartupFacts],
    swept: Iterable[SweepFacts],
    sweep: Iterable[SweepFacts],
) -> Iterator[Change]:
    for started in pairs(then, now, lambda each: each.threads):
        if started.old is not None and started.new is not None:
            for name in ("load_ms", "first_ms"):
                where: dict[str, str | int] = {"threads": started.either.threads, "time": name.removesuffix("_ms")}
                both = (Reading(value=getattr(each, name)) for each in (started.old, started.new))
                yield _change(target, "startup", where, "ms", both)
    for best in pairs(swept, sweep, lambda each: each.threads):
        if best.old is not None and best.new is not None:
            at: dict[str, str | int] = {"threads": best.either.threads}
            both = (Reading(value=each.best_throughput) for each in (best.old, best.new))
            yield _change(target, "throughput", at, "samples/s", both)
            both = (Reading(value=each.best_batch) for each in (best.old, best.new))
            yield _change(target, "throughput", at, "batch", both)


def _median(measured: LatencyMeasurement) -> Reading:
    return Reading(value=measured.median_ms, low=measured.median_low_ms, high=measured.median_high_ms)


def _change(target: str, what: str, where: dict[str, str | int], unit: str, both: Iterable[Reading]) -> Change:
    old, new = both
    return Change(target=target, what=what, where=where, unit=unit, old=old, new=new)
