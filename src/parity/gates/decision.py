"""The decision gate: a target keeps the decisions of the reference."""

from __future__ import annotations

from dataclasses import asdict

from parity.artifacts import QUANTIZED
from parity.compare.decisions import needed_for
from parity.models.spec import Limits
from parity.records import DecisionFinding, DecisionResult, Verdict


def judge_decision(finding: DecisionFinding, limits: Limits, precision: str) -> DecisionResult:
    """The verdict on one metric.

    Agreement passes where the whole interval is at or above the limit, fails where it is below, and is
    inconclusive where the limit lies inside. A float target without a single flip passes with any number
    of samples, since the floor has already judged its values. Accuracy is information.
    """
    facts = asdict(finding)
    if finding.metric != "top1_agreement":
        return DecisionResult(**facts)
    low, high, limit = finding.low or 0.0, finding.high or 0.0, limits.agreement
    if low >= limit or (precision not in QUANTIZED and not finding.flips):
        return DecisionResult(**facts, limit=limit, verdict=Verdict.PASS)
    interval = f"{finding.value:.4f} ({low:.4f} to {high:.4f}) over {finding.n} decisions"
    if high < limit:
        message = f"{finding.output}: top-1 agreement is {interval}, {limit:g} is asked for"
        return DecisionResult(**facts, limit=limit, verdict=Verdict.FAIL, message=message)
    needed = needed_for(finding.value, limit)
    advice = f"{needed} decisions at this rate would decide" if needed else "no number of samples would decide"
    message = f"{finding.output}: top-1 agreement is {interval}, and {limit:g} lies inside: {advice}"
    return DecisionResult(**facts, limit=limit, verdict=Verdict.INCONCLUSIVE, message=message)
