"""What the sweep over batch sizes says: where throughput is best, and what fits into a latency budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parity.records import LatencyMeasurement, SweepFacts


def sweeps(
    measured: Sequence[LatencyMeasurement],
    budget_ms: float | None = None,
    slowest: Mapping[tuple[int, int], float] | None = None,
) -> tuple[SweepFacts, ...]:
    """One for each number of threads.

    A batch size is within the budget by its 90th percentile, or by its slowest call where there were too few calls
    for that. Batch sizes above one that is over the budget do not count: a larger one that is faster by luck is no
    promise.

    Args:
        measured: The measurements of one target.
        budget_ms: What a call may take, in ms, or None.
        slowest: The slowest call by threads and batch, in ms.
    """
    found = []
    for threads in dict.fromkeys(each.threads for each in measured):
        own = sorted((each for each in measured if each.threads == threads), key=lambda each: each.batch)
        best = max(own, key=lambda each: each.throughput)
        within, statistic = _within(own, budget_ms, slowest or {}) if budget_ms is not None else (None, None)
        found.append(
            SweepFacts(
                threads=threads,
                best_batch=best.batch,
                best_throughput=best.throughput,
                budget_ms=budget_ms,
                batch_within_budget=within,
                statistic=statistic,
            )
        )
    return tuple(found)


def _within(
    ordered: Sequence[LatencyMeasurement], budget_ms: float, slowest: Mapping[tuple[int, int], float]
) -> tuple[int | None, str | None]:
    within: int | None = None
    statistic: str | None = None
    for each in ordered:
        taken, by = (
            (each.p90_ms, "p90") if each.p90_ms is not None else (slowest.get((each.threads, each.batch)), "max")
        )
        if taken is None or taken > budget_ms:
            return within, statistic or by
        within, statistic = each.batch, by
    return within, statistic
