"""The numeric gate: a float target stays within a number of floors, anything else is equal."""

from __future__ import annotations

from dataclasses import asdict, replace

from parity.artifacts import QUANTIZED
from parity.compare.layout import EMPTY
from parity.models.spec import Limits
from parity.records import NumericFinding, NumericResult, ShapeFinding, ShapeResult, Symptom, Verdict

_FLOAT_RULES = ("floor", "reordering", "matched")
_LEFT = "quantized: judged by its decisions"


def judge_numeric(finding: NumericFinding, limits: Limits, precision: str, *, decided: bool = False) -> NumericResult:
    """The verdict on one output.

    Structural disagreement and misplaced NaN fail at any precision, and so do unequal integers, unless they
    are the decisions of a quantized target. A float output of a quantized target is left to the decisions, unless
    a limit on its SQNR is set. Agreement with a constant reference decides nothing. Where the reference has no
    defined answer, any will do.

    Args:
        finding: On the output.
        limits: What is allowed.
        precision: Of the target.
        decided: Whether the output's decisions are judged besides.
    """
    if finding.rule == "matched" and precision != "float":
        # Which boxes are found is a decision: of a target that is not exact, the values of the pairs are judged here.
        finding = replace(finding, mismatched=None, ties=None)
    if finding.rule in _FLOAT_RULES:
        return _judge_quantized(finding, limits) if precision in QUANTIZED else _judge_float(finding, limits)
    if finding.rule == "exact":
        return _judge_exact(finding, left=decided and precision != "float")
    return _result(finding, Verdict.FAIL, None, f"{finding.output}: {finding.rule}: {finding.detail}")


def _judge_exact(finding: NumericFinding, *, left: bool) -> NumericResult:
    """Equal integers and booleans; `left` where differences are left to the decisions."""
    said = f"; {finding.detail}" if finding.detail else ""
    ties = f"{finding.ties} values differ where the reference has no defined answer" if finding.ties else ""
    if not finding.mismatched:
        result = _agreeing(finding, None)
        if result.verdict is Verdict.PASS and (ties or said):
            return replace(result, message=f"{finding.output}: {ties or 'equal'}{said}")
        return result
    if left:
        return _result(finding, Verdict.SKIP, None, _LEFT)
    what = f"{finding.mismatched} values differ, by {finding.max_abs:g} at most" + (f", and {ties}" if ties else "")
    return _result(finding, Verdict.FAIL, None, f"{finding.output}: exact: {what}{said}")


def _judge_float(finding: NumericFinding, limits: Limits) -> NumericResult:
    if finding.mismatched:
        return _result(finding, Verdict.FAIL, limits.ratio, f"{finding.output}: {finding.detail}")
    if _within(finding, limits):
        if finding.apart:
            return _ill_conditioned(finding, limits)
        result = _agreeing(finding, limits.ratio)
        if finding.ties and result.verdict is Verdict.PASS:
            said = f"; {finding.detail}" if finding.detail else ""
            ties = f"{finding.ties} boxes are on one side only where rounding decides"
            return replace(result, message=f"{finding.output}: {ties}{said}")
        return result
    message = (
        f"{finding.output}: error {finding.error:.2g} is {finding.ratio:.3g} floors of {finding.floor:.2g}, "
        f"{limits.ratio:g} are allowed ({finding.measure}, worst in sample {finding.worst_sample})"
    )
    return _result(finding, Verdict.FAIL, limits.ratio, message)


def _ill_conditioned(finding: NumericFinding, limits: Limits) -> NumericResult:
    """An error that is no worse than eager's own proves nothing where eager's own is large."""
    message = (
        f"{finding.output}: eager itself is good to {finding.good_to:.2g} here, the target to {finding.error:.2g}, and "
        f"they differ by {finding.apart:.2g}: more than half of the digits are noise, which decides nothing"
    )
    return _result(finding, Verdict.INCONCLUSIVE, limits.ratio, message)


def _within(finding: NumericFinding | ShapeFinding, limits: Limits) -> bool:
    """Under the limit in floors, or under what the longest sum may cost in any order."""
    ratio, error, allowance = finding.ratio or 0.0, finding.error or 0.0, finding.allowance or 0.0
    return ratio <= limits.ratio or error <= allowance


def _agreeing(finding: NumericFinding, limit: float | None) -> NumericResult:
    if finding.constant:
        why = EMPTY if finding.detail == EMPTY else "the reference returns the same for every sample"
        message = f"{finding.output}: {why}, which decides nothing"
        return _result(finding, Verdict.INCONCLUSIVE, limit, message)
    return _result(finding, Verdict.PASS, limit, None)


def _judge_quantized(finding: NumericFinding, limits: Limits) -> NumericResult:
    # Its distance in floors says nothing, and a reader would hold it against a limit that does not apply.
    finding = replace(finding, rule="sqnr", ratio=None, allowance=None)
    if finding.constant:
        return _agreeing(finding, None)
    if limits.sqnr_db is None:
        return _result(finding, Verdict.SKIP, None, _LEFT)
    sqnr = float("inf") if finding.sqnr_db is None else finding.sqnr_db
    if sqnr >= limits.sqnr_db:
        return _result(finding, Verdict.PASS, limits.sqnr_db, None)
    message = f"{finding.output}: SQNR is {sqnr:.1f} dB, at least {limits.sqnr_db:g} dB are asked for"
    return _result(finding, Verdict.FAIL, limits.sqnr_db, message)


def _result(finding: NumericFinding, verdict: Verdict, limit: float | None, message: str | None) -> NumericResult:
    return NumericResult(**asdict(finding), verdict=verdict, limit=limit, message=message)


def judge_shape(finding: ShapeFinding, limits: Limits) -> ShapeResult:
    """The verdict on one shape: it ran, and stayed within the same limit as the held-out samples.

    What the signature or the model itself rules out is no fault of the target's, and a skip.
    """
    facts = asdict(finding)
    if finding.symptom is Symptom.UNSUPPORTED:
        return ShapeResult(**facts, verdict=Verdict.SKIP, message=finding.detail)
    if finding.symptom is not Symptom.OK:
        message = f"{finding.symptom}: {finding.detail}"
        return ShapeResult(**facts, verdict=Verdict.FAIL, message=message)
    limit = limits.ratio if finding.ratio is not None else None
    if _within(finding, limits):
        return ShapeResult(**facts, verdict=Verdict.PASS, limit=limit)
    message = f"{finding.output}: error {finding.error:.2g} is {finding.ratio:.3g} floors, {limits.ratio:g} are allowed"
    facts["symptom"] = Symptom.MISMATCH
    return ShapeResult(**facts, verdict=Verdict.FAIL, limit=limit, message=message)
