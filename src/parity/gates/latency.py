"""The latency gate: the ratio to eager has not grown since the golden was recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from parity.models.spec import Limits
from parity.records import LatencyMeasurement, LatencyResult, Verdict


@dataclass(frozen=True)
class Baseline:
    """The golden's ratio for this class of machine, and the bounds of its own interval."""

    ratio: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Growth:
    """A ratio over its baseline, with 95 % bounds that hold the uncertainty of both."""

    value: float
    low: float
    high: float


def judge_latency(
    measured: LatencyMeasurement,
    baseline: Baseline | None,
    limits: Limits,
    absent: str,
    disturbances: Sequence[str] = (),
) -> LatencyResult:
    """The verdict on one target at one batch size.

    `pass` where the whole interval of the growth lies at or below the limit, `fail` where it lies above,
    `inconclusive` otherwise.

    Args:
        measured: The ratio and its interval.
        baseline: The golden's ratio, or None where it has none for this class of machine.
        limits: How much it may grow.
        absent: Why there is no baseline.
        disturbances: What kept the machine from measuring well.
    """
    facts = asdict(measured)
    if baseline is None:
        return LatencyResult(**facts, verdict=Verdict.SKIP, message=absent)
    allowed = baseline.ratio * limits.latency
    facts |= {
        "baseline": baseline.ratio, "baseline_low": baseline.low, "baseline_high": baseline.high, "limit": allowed,
    }  # fmt: skip
    growth = grown(measured, baseline)
    if growth is None:
        if measured.ratio is None:
            message = "eager could not be timed beside it, so there is no ratio to hold against the golden's"
            return LatencyResult(**facts, verdict=Verdict.INCONCLUSIVE, message=message)
        message = f"{measured.processes} process{'es' * (measured.processes > 1)} of it: too few for an interval"
        return LatencyResult(**facts, verdict=Verdict.INCONCLUSIVE, message=message)
    facts |= {"growth": growth.value, "growth_low": growth.low, "growth_high": growth.high}
    if growth.high <= limits.latency:
        return LatencyResult(**facts, verdict=Verdict.PASS)
    message = (
        f"{measured.ratio:.3g} times eager's time, {growth.value:.3g} ({growth.low:.3g} to {growth.high:.3g}) times "
        f"the golden's {baseline.ratio:.3g}; {limits.latency:g} times are allowed"
    )
    if growth.low > limits.latency:
        return LatencyResult(**facts, verdict=Verdict.FAIL, message=message)
    why = "; ".join(disturbances) or "a larger latency.max_seconds or a quieter machine would"
    message = f"{message}: {measured.processes} processes do not tell: {why}"
    return LatencyResult(**facts, verdict=Verdict.INCONCLUSIVE, message=message)


def grown(measured: LatencyMeasurement, baseline: Baseline) -> Growth | None:
    """Today's ratio over the golden's; None where today's has no interval.

    Both were measured, independently, so that their errors add in quadrature on the logarithmic scale.
    """
    if measured.ratio is None or measured.ratio_low is None or measured.ratio_high is None:
        return None
    centre = math.log(measured.ratio / baseline.ratio)
    below = math.hypot(math.log(measured.ratio / measured.ratio_low), _beyond(baseline.high, baseline.ratio))
    above = math.hypot(math.log(measured.ratio_high / measured.ratio), _beyond(baseline.ratio, baseline.low))
    return Growth(math.exp(centre), math.exp(centre - below), math.exp(centre + above))


def _beyond(larger: float | None, smaller: float | None) -> float:
    return 0.0 if larger is None or smaller is None else math.log(larger / smaller)
