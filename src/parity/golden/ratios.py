"""The few numbers of a record that a golden keeps: worst error ratio, agreement, latency ratios."""

from __future__ import annotations

import math

from parity.golden.record import LatencyRatio
from parity.records import Record, Stage, Symptom, Verdict

_DIGITS = 4

AGREEMENTS = frozenset(
    {
        "top1_agreement",
        "positive_agreement",
        "negative_agreement",
        "pixel_agreement",
        "token_agreement",
        "detection_agreement",
        "neighbour_agreement",
    }
)
"""The share of decisions that are kept, by whatever it is called for the kind of output."""


def approvable(record: Record) -> bool:
    """Whether a target ran and kept its numbers; what is only slower may be approved at its new speed."""
    if record.stage is Stage.DONE:
        ended_well = record.symptom is Symptom.OK
    else:
        ended_well = record.stage is Stage.TIME and record.symptom is Symptom.MISMATCH
    results = (record.numeric, record.decisions, record.shapes, record.behaviour)
    verdicts = [result.verdict for kind in results for result in kind]
    return ended_well and Verdict.FAIL not in verdicts


def worst_ratio(record: Record) -> float | None:
    """The largest error ratio over the outputs, in floors; None where none was measured or it is not finite."""
    ratios = [each.ratio for each in record.numeric if each.ratio is not None]
    return _rounded(max(ratios, default=None))


def worst_agreement(record: Record) -> float | None:
    """The lowest agreement over the outputs; None where no output stands for a decision."""
    return _rounded(min((each.value for each in record.decisions if each.metric in AGREEMENTS), default=None))


def latency_ratios(record: Record, threads: int) -> dict[str, LatencyRatio]:
    """Ratios to eager by batch size at a number of threads; a batch size without one is left out."""
    found: dict[str, LatencyRatio] = {}
    for each in record.latency:
        if each.threads != threads:
            continue
        ratio = _rounded(each.ratio)
        if ratio is not None:
            found[str(each.batch)] = LatencyRatio(
                ratio=ratio, low=_rounded(each.ratio_low), high=_rounded(each.ratio_high)
            )
    return found


def _rounded(value: float | None) -> float | None:
    """Four digits: more would only make diffs."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.{_DIGITS}g}")
