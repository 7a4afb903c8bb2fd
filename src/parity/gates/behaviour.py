"""The behaviour gate: a target answers alike, refuses what eager refuses, and is as dynamic as the signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from parity.compare.behaviour import BATCH_INVARIANCE, REPEATABILITY
from parity.models.matching import MATCHED
from parity.models.spec import Limits
from parity.records import BehaviourFinding, BehaviourResult, Verdict

TWO_ANSWERS = 2
"""Two answers may each be `limits.ratio` floors away from the oracle, and so twice that from each other."""


def judge_behaviour(finding: BehaviourFinding, limits: Limits, *, quantized: bool) -> BehaviourResult:
    """The verdict on one behaviour.

    The same input gets the same answer, within the limit of a float output, at any precision. A sample alone gets the
    answer that it gets in a batch; a quantized target may take its ranges from the whole batch, so that
    how much its answer moves is information. A target that dies where the model raises has refused rudely, which
    is information too, and so is a doubtful match of inputs or outputs: the numbers tell whether it was right.
    Whatever else has a `detail` fails.
    """
    if finding.kind == REPEATABILITY:
        return _judge(finding, limits.ratio, "the same input is answered differently", _RANDOM)
    if finding.kind == BATCH_INVARIANCE and quantized:
        return _informed(finding)
    if finding.kind == BATCH_INVARIANCE:
        return _judge(finding, TWO_ANSWERS * limits.ratio, "a sample's answer depends on its batch", "")
    if finding.detail is None:
        return _result(finding, Verdict.PASS, None, None)
    if finding.kind == MATCHED:
        return _result(finding, None, None, finding.detail)
    verdict = None if finding.kind == "died_at_excluded_shape" else Verdict.FAIL
    return _result(finding, verdict, None, f"{finding.name}: {finding.detail}")


def judge_declared(findings: Sequence[BehaviourFinding]) -> tuple[BehaviourResult, ...]:
    """The verdicts on what an artifact declares, which no limit and no precision changes."""
    return tuple(judge_behaviour(each, Limits(), quantized=False) for each in findings)


_RANDOM = ": a random layer was left on, or state is kept between calls"


def _judge(finding: BehaviourFinding, limit: float, what: str, why: str) -> BehaviourResult:
    ratio, error, allowance = finding.ratio or 0.0, finding.error or 0.0, finding.allowance or 0.0
    measured = finding.ratio is not None
    if (measured and (ratio <= limit or error <= allowance)) or (not measured and finding.detail is None):
        return _result(finding, Verdict.PASS, limit if measured else None, None)
    floors = f" ({ratio:.3g} floors, {limit:g} are allowed)" if measured else ""
    message = f"{finding.name}: {what}: sample {finding.worst_sample}: {finding.detail}{floors}{why}"
    return _result(finding, Verdict.FAIL, limit if measured else None, message)


def _informed(finding: BehaviourFinding) -> BehaviourResult:
    if finding.detail is None:
        return _result(finding, None, None, None)
    size = "" if finding.sqnr_db is None else f", an SQNR of {finding.sqnr_db:.1f} dB"
    message = f"{finding.name}: a sample's answer depends on its batch: {finding.detail}{size}"
    return _result(finding, None, None, message)


def _result(
    finding: BehaviourFinding, verdict: Verdict | None, limit: float | None, message: str | None
) -> BehaviourResult:
    return BehaviourResult(**asdict(finding), verdict=verdict, limit=limit, message=message)
