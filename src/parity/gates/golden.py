"""The golden gate: the reference still returns what was approved, or the message names what moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from parity.gates.numeric import judge_numeric
from parity.models.spec import Limits
from parity.records import GoldenFinding, GoldenResult, NumericFinding, Verdict

GROWTH = 3.0
"""A target's worst ratio is said to have moved where it is this many times the golden's ..."""

NOTABLE = 3.0
"""... and at least this many floors: below, it is the luck of the draw on both sides."""

_MOVED = ("model", "data", "toolchain")


def judge_golden(findings: Sequence[GoldenFinding], limits: Limits, model: str) -> tuple[GoldenResult, ...]:
    """A result for each finding.

    Outputs are held to the float limit of the model, and to the allowance for long sums, so another
    processor or a new torch is no change; integers are equal. A failure names everything that moved, since
    the reader has to tell an intended change from an accident. What moved without moving an output, and
    what a target's ratio has done, is information. Where no kept sample is left, nothing can be decided.

    Args:
        findings: What `compare_golden` found.
        limits: The model's own.
        model: Its name, for the next command to type.
    """
    moved = _moved(findings)
    return tuple(_judge(finding, limits, model, moved) for finding in findings)


def _judge(finding: GoldenFinding, limits: Limits, model: str, moved: str) -> GoldenResult:
    if finding.kind == "output":
        return _judge_output(finding, limits, model, moved)
    if finding.kind == "target":
        return _describe_target(finding)
    if finding.kind == "reference":
        message = f"the reference is not deterministic, so nothing can be held against the golden: {finding.detail}"
        return _result(finding, message, Verdict.INCONCLUSIVE)
    return _judge_moved(finding, model)


def _judge_output(finding: GoldenFinding, limits: Limits, model: str, moved: str) -> GoldenResult:
    if finding.numeric is None:
        return _result(finding, f"{finding.name} is not in the golden: {finding.detail}", Verdict.SKIP)
    # That a reference is constant leaves a target undecided; as it was approved, it may stay so.
    result = judge_numeric(replace(finding.numeric, constant=None), limits, "float")
    if result.verdict is Verdict.PASS:
        since = f"; moved since: {moved}" if moved else ""
        message = f"{finding.name} is what was approved: {_measured(finding.numeric, limits)}{since}"
        return _result(finding, message, Verdict.PASS, result.limit)
    message = f"{result.message}; {_cause(moved)}; `parity golden accept {model}` if it is intended"
    return _result(finding, message, result.verdict, result.limit)


def _cause(moved: str) -> str:
    if moved:
        return f"moved since the golden: {moved}"
    return "nothing that a golden knows of has moved: look for state outside weights and code"


def _measured(numeric: NumericFinding, limits: Limits) -> str:
    over = f"over {numeric.n} kept sample{'' if numeric.n == 1 else 's'}"
    if numeric.ratio is None:
        return f"equal {over}"
    if numeric.ratio > limits.ratio:
        return f"error {numeric.error:.2g}, {numeric.allowance:.2g} are allowed for long sums, {over}"
    floors = f"{numeric.ratio:.3g} floors of {numeric.floor:.2g}"
    return f"error {numeric.error:.2g} is {floors}, {limits.ratio:g} are allowed, {over}"


def _moved(findings: Sequence[GoldenFinding]) -> str:
    """What moved, by kind: `model (weights 1a2b -> 3c4d), toolchain (torch 2.6 -> 2.7)`; empty where nothing did."""
    parts: list[str] = []
    for kind in _MOVED:
        changes = [_change(finding) for finding in findings if finding.kind == kind]
        parts += [f"{kind} ({', '.join(changes)})"] if changes else []
    return ", ".join(parts)


def _change(finding: GoldenFinding) -> str:
    return f"{finding.name} {finding.golden} -> {finding.today}"


def _judge_moved(finding: GoldenFinding, model: str) -> GoldenResult:
    if finding.kind == "data":
        message = f"data: {finding.n} of {finding.of} kept samples are still held out: {finding.detail}"
        if not finding.n:
            message += f"; nothing is left to compare, `parity golden accept {model}` records today's"
            return _result(finding, message, Verdict.INCONCLUSIVE, moved=True)
        return _result(finding, message, moved=True)
    return _result(finding, f"{finding.kind}: {_change(finding)}", moved=True)


def _describe_target(finding: GoldenFinding) -> GoldenResult:
    now, then = finding.ratio, finding.golden_ratio
    moved = None if now is None or then is None else now > GROWTH * then and now > NOTABLE
    texts = [
        _beside("worst error ratio", now, then),
        _beside("agreement", finding.agreement, finding.golden_agreement),
    ]
    known = "; ".join(text for text in texts if text) or "no number today, and none in the golden"
    warning = f": more than {GROWTH:g} times the golden's" if moved else ""
    return _result(finding, f"{finding.name}: {known}{warning}", moved=moved)


def _beside(what: str, now: float | None, then: float | None) -> str:
    if now is None and then is None:
        return ""
    today = "not measured today" if now is None else f"{now:.4g}"
    return f"{what} {today}, " + ("absent from the golden" if then is None else f"{then:.4g} in the golden")


def _result(
    finding: GoldenFinding,
    message: str,
    verdict: Verdict | None = None,
    limit: float | None = None,
    *,
    moved: bool | None = None,
) -> GoldenResult:
    facts = {**asdict(finding), "numeric": finding.numeric}
    return GoldenResult(**facts, message=message, verdict=verdict, limit=limit, moved=moved)
