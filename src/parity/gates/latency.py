"""The latency gate: the ratio to eager has not grown since the golden was recorded."""

from __future__ import annotations

from dataclasses import asdict

from parity.models.spec import Limits
from parity.records import LatencyMeasurement, LatencyResult, Verdict


def judge_latency(measured: LatencyMeasurement, baseline: float | None, limits: Limits, absent: str) -> LatencyResult:
    """The verdict on one target at one batch size.

    The interval of the ratio is held against the golden's ratio times the limit: `fail` where all of it
    lies above, `pass` where all of it lies below, `inconclusive` otherwise.

    Args:
        measured: The ratio and its interval.
        baseline: The golden's ratio for this class of machine, or None.
        limits: How much it may grow.
        absent: Why there is no baseline.
    """
    facts = asdict(measured)
    if baseline is None:
        return LatencyResult(**facts, verdict=Verdict.SKIP, message=absent)
    allowed = baseline * limits.latency
    if measured.ratio_low is None or measured.ratio_high is None:
        message = "too few bursts for an interval"
        return LatencyResult(**facts, baseline=baseline, limit=allowed, verdict=Verdict.INCONCLUSIVE, message=message)
    if measured.ratio_high <= allowed:
        return LatencyResult(**facts, baseline=baseline, limit=allowed, verdict=Verdict.PASS)
    interval = f"{measured.ratio:.3g} ({measured.ratio_low:.3g} to {measured.ratio_high:.3g}) times eager"
    against = f"{allowed:.3g} are allowed ({baseline:.3g} in the golden, {limits.latency:g} times that)"
    if measured.ratio_low > allowed:
        message = f"batch {measured.batch}: {interval}, {against}"
        return LatencyResult(**facts, baseline=baseline, limit=allowed, verdict=Verdict.FAIL, message=message)
    message = f"batch {measured.batch}: {interval}, and {against}: too noisy to tell, more bursts would"
    return LatencyResult(**facts, baseline=baseline, limit=allowed, verdict=Verdict.INCONCLUSIVE, message=message)
