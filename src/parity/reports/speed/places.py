"""Which of many timings stands for a target.

Targets are put side by side at one batch size and one number of threads, the same for all and in every report;
everything that shows a single time takes it from here and says where it was measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from parity.records import BudgetResult, LatencyMeasurement, Report, StartupFacts, SweepFacts
from parity.reports.numbers import count

EAGER = "eager"
"""What the reference is called beside the targets."""

Measured = TypeVar("Measured", bound=LatencyMeasurement)
PerThreads = TypeVar("PerThreads", StartupFacts, SweepFacts)


@dataclass(frozen=True, kw_only=True)
class Place:
    """A batch size and a number of threads; `threads_named` where the report has several numbers of threads."""

    batch: int
    threads: int
    threads_named: bool = False

    def __str__(self) -> str:
        """`batch 8`, or `batch 8, 2 threads` where that has to be said."""
        return f"batch {self.batch}" + (f", {count(self.threads, 'thread')}" if self.threads_named else "")


def all_threads(report: Report) -> tuple[int, ...]:
    """Every number of threads that something was timed with, in ascending order."""
    timed = [*report.reference.latency, *(each for record in report.records for each in record.latency)]
    return tuple(sorted({each.threads for each in timed}))


def shared(report: Report) -> Place | None:
    """Where targets are put side by side; None without timings.

    The number of threads is that of the reference where targets were timed with it, otherwise the one that most were
    timed with; the batch size is the one that most were timed at with it, the largest of equals.
    """
    timed = [each for record in report.records for each in record.latency]
    if not timed:
        return None
    counts = Counter(each.threads for each in timed)
    usual = report.reference.threads
    threads = usual if usual in counts else max(counts, key=lambda each: (counts[each], -each))
    seen = Counter(each.batch for each in timed if each.threads == threads)
    batch = max(seen, key=lambda each: (seen[each], each))
    return Place(batch=batch, threads=threads, threads_named=len(all_threads(report)) > 1)


def at(results: Iterable[Measured], place: Place | None) -> Measured | None:
    """The timing at `place`, and where there is none the nearest: the same threads, then the largest batch size."""
    return max(
        results,
        key=lambda each: (
            place is not None and (each.threads, each.batch) == (place.threads, place.batch),
            place is not None and each.threads == place.threads,
            each.batch,
        ),
        default=None,
    )


def of_threads(facts: Iterable[PerThreads], place: Place | None) -> PerThreads | None:
    """The facts with as many threads as `place` has; None where there are none."""
    return next((each for each in facts if place is not None and each.threads == place.threads), None)


def where(result: LatencyMeasurement | BudgetResult, *, threads_named: bool) -> str:
    """`batch 8`, or `batch 8, 2 threads`; whatever the result does not belong to is left out."""
    parts = [f"batch {result.batch}"] if result.batch is not None else []
    parts += [count(result.threads, "thread")] if result.threads is not None and threads_named else []
    return ", ".join(parts)


def threads_differ(results: Iterable[LatencyMeasurement | BudgetResult]) -> bool:
    """Whether results are of several numbers of threads, so that each has to say its own."""
    return len({each.threads for each in results} - {None}) > 1


def beside(result: LatencyMeasurement, place: Place) -> str:
    """Where a timing that stands beside those of `place` was measured; empty where that is the same."""
    if (result.batch, result.threads) == (place.batch, place.threads):
        return ""
    return where(result, threads_named=place.threads_named or result.threads != place.threads)
