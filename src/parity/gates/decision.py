"""The decision gate: a target keeps the decisions of the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from parity.artifacts import QUANTIZED
from parity.compare.decisions.statistics import needed_by_width, needed_for
from parity.models.spec import Limits
from parity.records import DecisionFinding, DecisionResult, Verdict


@dataclass(frozen=True)
class Metric:
    """How one metric is judged.

    Attributes:
        words: What it is called in a message.
        limit: The smallest value that is allowed, or None where none is set.
        unit: What it counts, in the plural.
        share: Whether it is a share with a Wilson interval; otherwise a mean over samples.
    """

    words: str
    limit: Callable[[Limits], float | None]
    unit: str
    share: bool = True


def _allowed_drop(limits: Limits) -> float | None:
    return None if limits.accuracy_drop is None else -limits.accuracy_drop


METRICS: Mapping[str, Metric] = {
    "top1_agreement": Metric("top-1 agreement", lambda limits: limits.agreement, "decisions"),
    "positive_agreement": Metric("agreement on eager's yes", lambda limits: limits.agreement, "decisions"),
    "negative_agreement": Metric("agreement on eager's no", lambda limits: limits.agreement, "decisions"),
    "top5_agreement": Metric("top-5 agreement", lambda limits: limits.top5, "decisions"),
    "pixel_agreement": Metric("pixel agreement", lambda limits: limits.agreement, "decisions"),
    "token_agreement": Metric("token agreement", lambda limits: limits.agreement, "decisions"),
    "sequence_agreement": Metric("sequence agreement", lambda limits: limits.sequence, "sequences"),
    "detection_agreement": Metric("detection agreement", lambda limits: limits.agreement, "boxes"),
    "neighbour_agreement": Metric("nearest-neighbour agreement", lambda limits: limits.neighbours, "samples"),
    "mean_iou": Metric("mean IoU with the reference", lambda limits: limits.miou, "samples", share=False),
    "box_iou": Metric("mean IoU of the boxes", lambda limits: limits.miou, "samples", share=False),
    "cosine_mean": Metric("mean cosine similarity", lambda limits: limits.cosine, "samples", share=False),
    "accuracy_difference": Metric("accuracy against eager's", _allowed_drop, "samples", share=False),
    "mean_iou_difference": Metric("mean IoU against eager's", _allowed_drop, "samples", share=False),
    "token_accuracy_difference": Metric("token accuracy against eager's", _allowed_drop, "samples", share=False),
}
"""Metrics that a limit may be set on; any other is information."""


def judge_decision(finding: DecisionFinding, limits: Limits, precision: str) -> DecisionResult:
    """The verdict on one metric.

    It passes where the whole interval is at or above the limit, fails where it is below, and is inconclusive
    where the limit lies inside, or where one sample is too few for an interval. A float target without a single
    flip passes with any number of samples, since the floor has already judged its values; a metric that counts no
    flips has to reach the limit itself. A metric without a limit is information.
    """
    facts = asdict(finding)
    metric = METRICS.get(finding.metric)
    limit = metric.limit(limits) if metric else None
    if metric is None or limit is None:
        return DecisionResult(**facts)
    value, low, high = finding.value, finding.low, finding.high
    judged_by_value = precision not in QUANTIZED and (value >= limit if finding.flips is None else not finding.flips)
    if judged_by_value or (low is not None and low >= limit):
        return DecisionResult(**facts, limit=limit, verdict=Verdict.PASS)
    if not finding.n and finding.n is not None:
        message = f"{finding.output}: {metric.words} cannot be told: it has none in these samples"
        return DecisionResult(**facts, limit=limit, verdict=Verdict.INCONCLUSIVE, message=message)
    if low is None or high is None:
        message = f"{finding.output}: {metric.words} is {value:.4f} in one sample, which says nothing of others"
        return DecisionResult(**facts, limit=limit, verdict=Verdict.INCONCLUSIVE, message=message)
    interval = f"{value:.4f} ({low:.4f} to {high:.4f}) over {finding.n} {metric.unit}"
    if high < limit:
        message = f"{finding.output}: {metric.words} is {interval}, {limit:g} is asked for"
        return DecisionResult(**facts, limit=limit, verdict=Verdict.FAIL, message=message)
    needed = needed_for(value, limit) if metric.share else needed_by_width(value, low, high, limit, finding.n or 1)
    advice = f"{needed} {metric.unit} at this rate would decide" if needed else "no number of samples would decide"
    message = f"{finding.output}: {metric.words} is {interval}, and {limit:g} lies inside: {advice}"
    return DecisionResult(**facts, limit=limit, verdict=Verdict.INCONCLUSIVE, message=message)
