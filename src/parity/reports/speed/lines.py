"""What is said of a target's speed in a few words: its cell in the one-row view, and why it is not a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from parity.records import BudgetResult, LatencyMeasurement, LatencyResult, Record, Report, Verdict
from parity.reports.numbers import ABSENT, against, bounds, count, interval, milliseconds, number, size
from parity.reports.speed.places import Place, at, beside, threads_differ, where

OPEN = (Verdict.FAIL, Verdict.INCONCLUSIVE)
"""Verdicts that have to be seen, the gravest first."""

SHOWN_FAILED = 3
SHOWN_UNDECIDED = 1
"""Results of one kind whose messages are listed, by verdict."""

_PHRASES = {Verdict.FAIL: "fails", Verdict.INCONCLUSIVE: "is undecided"}
_TOO = {Verdict.FAIL: "failed too, see the details", Verdict.INCONCLUSIVE: "undecided too, see the details"}

TIME_BUDGETS = frozenset({"max_ms", "min_throughput"})
SIZE_BUDGETS = frozenset({"max_bytes"})
"""Names of the budgets that are about time, and about the artifact's size."""

Judged = TypeVar("Judged", LatencyResult, BudgetResult)
Lines = tuple[tuple[str, Verdict | None], ...]
"""Short lines of one cell; those with a verdict are marked with it."""


def gravest(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    """`fail`, `inconclusive`, or None where neither is among them."""
    seen = set(verdicts)
    return next((verdict for verdict in OPEN if verdict in seen), None)


def latency_lines(record: Record, place: Place | None) -> Lines:
    """The ratio to eager at `place` with its interval, and whatever failed or is undecided elsewhere."""
    result = at(record.latency, place)
    if result is None:
        return _budget_line(record.budgets, TIME_BUDGETS) or ((ABSENT, None),)
    lines: list[tuple[str, Verdict | None]] = [(number(result.ratio), gravest([result.verdict]))]
    if result.ratio_low is not None:
        lines.append((interval(result.ratio_low, result.ratio_high), None))
    elsewhere = beside(result, place) if place else f"batch {result.batch}"
    if elsewhere:
        lines.append((elsewhere, None))
    return (*lines, *_elsewhere(record.latency, result), *_budget_line(record.budgets, TIME_BUDGETS))


def size_lines(record: Record) -> Lines:
    """The artifact's size, and whether a budget for it is kept."""
    return ((size(record.export.bytes) if record.export else ABSENT, None), *_budget_line(record.budgets, SIZE_BUDGETS))


def _elsewhere(results: tuple[LatencyResult, ...], shown: LatencyResult) -> Lines:
    """A graver verdict than that of the timing that is shown must not hide behind it."""
    verdict = gravest(each.verdict for each in results)
    if verdict is None or verdict is shown.verdict:
        return ()
    found = [each for each in results if each.verdict is verdict]
    one = where(found[0], threads_named=threads_differ(results))
    return ((one if len(found) == 1 else f"{len(found)} others", verdict),)


def _budget_line(budgets: tuple[BudgetResult, ...], metrics: frozenset[str]) -> Lines:
    verdict = gravest(each.verdict for each in budgets if each.metric in metrics)
    return () if verdict is None else (("budget", verdict),)


def speed_reasons(record: Record) -> tuple[str, ...]:
    """What the record's own message does not have of timings that failed or are undecided."""
    return briefly(record.latency, record.message, lambda results: f"latency at {places(results, record)}", _why)


def briefly(
    results: Iterable[Judged],
    said: str,
    name: Callable[[Sequence[Judged]], str],
    why: Callable[[Judged], str],
) -> tuple[str, ...]:
    """Results that failed or are undecided, in lines.

    Those that failed are told each, up to a few. Of those that are undecided the first is told and the others are
    named: a noisy machine leaves every one of them undecided, for the same reason.

    Args:
        results: All of one kind.
        said: What the reader knows already.
        name: What some of them are, in one phrase.
        why: What there is to say of one.
    """
    every, found = tuple(results), []
    for verdict, most in zip(OPEN, (SHOWN_FAILED, SHOWN_UNDECIDED), strict=True):
        chosen = [each for each in every if each.verdict is verdict]
        # The words that were said are of one result; another with the same words is still to be told.
        known = next((each for each in chosen if why(each) in said), None)
        rest = [each for each in chosen if each is not known]
        told = most - (known is not None)
        found += [f"{name([each])}: {why(each)}" for each in rest[:told]]
        found += [f"{name(rest[told:])}: {_TOO[verdict]}"] if rest[told:] else []
    return tuple(found)


def places(results: Sequence[LatencyResult], record: Record) -> str:
    """Where results of a record are, in one phrase: `batch 1, 2 and 8`, `batch 1, 2 threads and batch 8, 4 threads`."""
    names = [_named(each, record) for each in results]
    if not threads_differ(record.latency):
        names = [names[0], *(name.removeprefix("batch ") for name in names[1:])]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def elsewhere(record: Record, shown: LatencyMeasurement | None) -> tuple[str, ...]:
    """What failed or is undecided besides the timing that is shown, in a few words each."""
    found = []
    for verdict in OPEN:
        timings = [each for each in record.latency if each.verdict is verdict and each is not shown]
        found += [f"latency {_PHRASES[verdict]} at {places(timings, record)}"] if timings else []
        names = [each.metric for each in record.budgets if each.verdict is verdict]
        found += [f"{' and '.join(dict.fromkeys(names))} {_PHRASES[verdict]}"] if names else []
    return tuple(found)


def _named(result: LatencyResult, record: Record) -> str:
    return where(result, threads_named=threads_differ(record.latency))


def _why(result: LatencyResult) -> str:
    return result.message or f"ratio {against(result.ratio, result.limit)}"


def noise(report: Report) -> str:
    """What disturbed the timing, in one line; empty where nothing did."""
    notes = report.timing.notes if report.timing else ()
    return f"Noisy machine while timing: {'; '.join(notes)}" if notes else ""


def timing_text(each: LatencyMeasurement) -> str:
    """One timing in one line: where it was measured, the median, p90, throughput and the ratio to eager."""
    within = bounds(each.median_low_ms, each.median_high_ms)
    parts = [
        f"batch {each.batch}, {count(each.threads, 'thread')}: median {milliseconds(each.median_ms)}"
        + (f" ({within})" if within else "")
    ]
    parts += [f"p90 {milliseconds(each.p90_ms)}"] if each.p90_ms is not None else []
    parts.append(f"{number(each.throughput)} samples/s")
    if each.ratio is not None:
        around = f" ({interval(each.ratio_low, each.ratio_high)})" if each.ratio_low is not None else ""
        parts.append(f"{number(each.ratio)}{around} of eager")
    return ", ".join(parts)
