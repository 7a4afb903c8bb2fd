"""Measurements of speed as the cells of tables: the number, and its interval on a second line."""

from __future__ import annotations

from parity.records import LatencyMeasurement, LatencyResult
from parity.reports.numbers import ABSENT, against, bounds, count, interval, milliseconds, number
from parity.reports.sections import stacked


def median(measured: LatencyMeasurement | None) -> str:
    """The median of one call; `n/a` where nothing was measured."""
    if measured is None:
        return ABSENT
    return stacked(milliseconds(measured.median_ms), bounds(measured.median_low_ms, measured.median_high_ms))


def percentile(measured: LatencyMeasurement | None, name: str) -> str:
    """The percentile, or how many calls it takes where there were too few."""
    if measured is None:
        return ABSENT
    value = {"p90": measured.p90_ms, "p99": measured.p99_ms}[name]
    needed = (measured.needed or {}).get(name)
    return f"needs\n{count(needed, 'call')}" if value is None and needed is not None else milliseconds(value)


def throughput(measured: LatencyMeasurement | None) -> str:
    """Samples a second, with the interval that the median's bounds come to."""
    if measured is None:
        return ABSENT
    low, high = throughput_bounds(measured)
    return stacked(number(measured.throughput), bounds(low, high))


def throughput_bounds(measured: LatencyMeasurement) -> tuple[float | None, float | None]:
    """The batch over the bounds of the median, in samples a second; None where the median has none."""
    low, high = measured.median_low_ms, measured.median_high_ms
    return (measured.batch / high * 1e3 if high else None, measured.batch / low * 1e3 if low else None)


def ratio(measured: LatencyMeasurement | None) -> str:
    """The time over eager's."""
    if measured is None:
        return ABSENT
    # A ratio beyond its limit must not read as if it were at it.
    limit = measured.limit if isinstance(measured, LatencyResult) else None
    return stacked(
        against(measured.ratio, limit).partition(" / ")[0], interval(measured.ratio_low, measured.ratio_high)
    )


def golden(result: LatencyResult) -> str:
    """The golden's ratio for this class of machine."""
    return stacked(number(result.baseline), interval(result.baseline_low, result.baseline_high))


def growth(result: LatencyMeasurement | None) -> str:
    """The growth over the golden beside what it may be; `n/a` of what no gate has judged."""
    if not isinstance(result, LatencyResult):
        return ABSENT
    allowed = result.limit / result.baseline if result.limit and result.baseline else None
    return stacked(against(result.growth, allowed), interval(result.growth_low, result.growth_high))
