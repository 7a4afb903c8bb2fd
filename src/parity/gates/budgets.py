"""Absolute limits: what a call may take, what must be served, how large an artifact and its process may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from parity.models.spec import EVERY_BATCH, Limits
from parity.records import BudgetResult, LatencyMeasurement, Verdict

_WHOLE = 1000
"""Values from here on are told as whole numbers: they have the four digits that others are told with."""


def judge_budgets(
    limits: Limits,
    measured: Sequence[LatencyMeasurement],
    *,
    size: int | None,
    peak: int | None,
    timed: bool,
    disturbances: Sequence[str] = (),
    untimed: Callable[[int], str] = lambda _: "it was not timed there",
) -> tuple[BudgetResult, ...]:
    """One result for each limit that is set.

    Args:
        limits: What is allowed.
        measured: What was timed.
        size: Bytes of the artifact; None where there is none, which no limit on its size concerns.
        peak: Highest resident memory while it ran and was not timed, in bytes, above what its process began with.
        timed: Whether there was a timing stage; without one, limits on time are not judged.
        disturbances: What kept the machine from measuring well.
        untimed: Why a batch size that has a limit of its own was not timed, and what would time it.
    """
    found: list[BudgetResult] = []
    if limits.max_bytes is not None and size is not None:
        message = f"{size:,} bytes of files, {limits.max_bytes:,} are allowed"
        found.append(_most("max_bytes", size, limits.max_bytes, message))
    if limits.max_memory is not None:
        found.append(_memory(limits.max_memory, measured, peak))
    if not timed:
        return tuple(found)
    found += _calls(limits, measured, disturbances, untimed)
    if limits.min_throughput is not None:
        found.append(_throughput(limits.min_throughput, measured, disturbances))
    return tuple(found)


def _most(metric: str, value: float, limit: float, message: str) -> BudgetResult:
    if value <= limit:
        return BudgetResult(metric=metric, value=value, limit=limit, verdict=Verdict.PASS)
    return BudgetResult(metric=metric, value=value, limit=limit, verdict=Verdict.FAIL, message=message)


def _memory(limit: int, measured: Sequence[LatencyMeasurement], peak: int | None) -> BudgetResult:
    peaks = [each.peak_bytes for each in measured if each.peak_bytes is not None]
    highest = max(peaks, default=peak)
    if highest is None:
        message = "this system does not tell how much memory a process took"
        return BudgetResult(metric="max_memory", limit=limit, verdict=Verdict.INCONCLUSIVE, message=message)
    return _most("max_memory", highest, limit, f"a peak of {highest:,} bytes above its baseline, {limit:,} are allowed")


def _calls(
    limits: Limits, measured: Sequence[LatencyMeasurement], disturbances: Sequence[str], untimed: Callable[[int], str]
) -> list[BudgetResult]:
    allowed = dict(limits.max_ms or ())
    found = []
    for each in measured:
        limit = allowed.get(each.batch, allowed.get(EVERY_BATCH))
        if limit is not None:
            taken = _Measured(each.median_ms, each.median_low_ms, each.median_high_ms, "ms a call")
            found.append(_sampled("max_ms", each, taken, limit, disturbances))
    others = sorted(set(allowed) - {EVERY_BATCH} - {each.batch for each in measured})
    found += [
        BudgetResult(
            metric="max_ms",
            limit=allowed[batch],
            verdict=Verdict.INCONCLUSIVE,
            batch=batch,
            message=untimed(batch),
        )
        for batch in others
    ]
    return found


def _throughput(limit: float, measured: Sequence[LatencyMeasurement], disturbances: Sequence[str]) -> BudgetResult:
    if not measured:
        message = "it was not timed"
        return BudgetResult(metric="min_throughput", limit=limit, verdict=Verdict.INCONCLUSIVE, message=message)
    best = max(measured, key=lambda each: each.throughput)
    low = None if best.median_high_ms is None else best.batch / best.median_high_ms * 1e3
    high = None if best.median_low_ms is None else best.batch / best.median_low_ms * 1e3
    served = _Measured(best.throughput, low, high, "samples a second")
    return _sampled("min_throughput", best, served, limit, disturbances)


class _Measured(NamedTuple):
    """A value with its 95 % bounds and its unit."""

    value: float
    low: float | None
    high: float | None
    unit: str


def _sampled(
    metric: str,
    at: LatencyMeasurement,
    measured: _Measured,
    limit: float,
    disturbances: Sequence[str],
) -> BudgetResult:
    """`pass` where the whole interval is within the limit, `fail` where all of it is beyond."""
    low, high = measured.low, measured.high
    at_least = metric.startswith("min_")
    verdict, why = Verdict.INCONCLUSIVE, ""
    if low is not None and high is not None:
        within, beyond = (low >= limit, high < limit) if at_least else (high <= limit, low > limit)
        verdict = Verdict.PASS if within else Verdict.FAIL if beyond else Verdict.INCONCLUSIVE
    if verdict is Verdict.INCONCLUSIVE:
        why = f": {at.processes} processes do not tell: {'; '.join(disturbances) or 'a quieter machine would'}"
    spread = "" if low is None or high is None else f" ({_figure(low)} to {_figure(high)})"
    asked = f"at least {_figure(limit)} are asked for" if at_least else f"at most {_figure(limit)} are allowed"
    message = f"{_figure(measured.value)}{spread} {measured.unit} in the median, {asked}{why}"
    return BudgetResult(
        metric=metric,
        limit=limit,
        verdict=verdict,
        value=measured.value,
        low=low,
        high=high,
        batch=at.batch,
        threads=at.threads,
        message=None if verdict is Verdict.PASS else message,
    )


def _figure(value: float) -> str:
    """Four digits, and whole numbers above: throughput goes into the millions, where exponents are hard to read."""
    return f"{value:.4g}" if value < _WHOLE else f"{value:,.0f}"
