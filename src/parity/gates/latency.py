"""The latency gate: the ratio to eager has not grown since the golden was recorded."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from parity.models.spec import Limits
from parity.records import LatencyMeasurement, LatencyResult, Verdict


@dataclass(frozen=True)
class Baseline:
    """The golden's ratio for this class of machine, and the upper bound of its interval."""

    ratio: float
    high: float | None = None


def judge_latency(
    measured: LatencyMeasurement, baseline: Baseline | None, limits: Limits, absent: str
) -> LatencyResult:
    """The verdict on one target at one batch size.

    `pass` where the whole interval of the ratio lies below the golden's ratio times the limit. `fail`
    where it lies above that, and also above the upper bound of the golden's own interval times the limit:
    the golden was measured too, and its luck must not fail a release. `inconclusive` otherwise.

    Args:
        measured: The ratio and its interval.
        baseline: The golden's ratio, or None where it has none for this class of machine.
        limits: How much it may grow.
        absent: Why there is no baseline.
    """
    facts = asdict(measured)
    if baseline is None:
        return LatencyResult(**facts, verdict=Verdict.SKIP, message=absent)
    facts |= {"baseline": baseline.ratio, "limit": baseline.ratio * limits.latency}
    if measured.ratio_low is None or measured.ratio_high is None:
        message = "too few bursts for an interval"
        return LatencyResult(**facts, verdict=Verdict.INCONCLUSIVE, message=message)
    allowed = baseline.ratio * limits.latency
    if measured.ratio_high <= allowed:
        return LatencyResult(**facts, verdict=Verdict.PASS)
    interval = f"{measured.ratio:.3g} ({measured.ratio_low:.3g} to {measured.ratio_high:.3g}) times eager"
    against = f"{allowed:.3g} are allowed ({baseline.ratio:.3g} in the golden, {limits.latency:g} times that)"
    if measured.ratio_low > max(allowed, (baseline.high or 0.0) * limits.latency):
        message = f"{interval}, {against}"
        return LatencyResult(**facts, verdict=Verdict.FAIL, message=message)
    message = f"{interval}, and {against}: too noisy to tell, more bursts would"
    return LatencyResult(**facts, verdict=Verdict.INCONCLUSIVE, message=message)
