"""Findings on one target, and the results that gates make of them."""

from __future__ import annotations

from dataclasses import dataclass

from parity.records.behaviour import BehaviourResult
from parity.records.latency import BudgetResult, LatencyResult
from parity.records.verdicts import Symptom, Verdict


@dataclass(frozen=True, kw_only=True)
class NumericFinding:
    """How one output of a target differs from the reference, over all held-out samples.

    `rule` names what was measured: `floor` (float outputs against the float64 oracle), `reordering`
    (float outputs where no oracle could be had), `matched` (either of them over detections, matched as sets),
    `exact` (integers, booleans), `sqnr` (float outputs of a quantized target), `order` (right values under
    another output's name, which `detail` says), or the structural disagreement that leaves nothing to measure:
    `missing`, `extra`, `dtype`, `rank`, `shape`, `nonfinite`.
    `error`, `floor` and `allowance` are relative and belong to the measure named by `measure`, the one
    with the largest ratio. `max_abs` is the largest absolute difference to the eager reference.
    `good_to` is there where the model is ill-conditioned: the relative error of eager itself, once that has
    cost more than half of its digits. `apart` is there where the target differs from eager by as much.
    `ties` are values (or detections) that differ where the reference itself has no defined answer; `mismatched`
    does not count them.
    """

    output: str
    rule: str
    error: float | None = None
    floor: float | None = None
    ratio: float | None = None
    allowance: float | None = None
    measure: str | None = None
    max_abs: float | None = None
    worst_sample: int | None = None
    mismatched: int | None = None
    ties: int | None = None
    n: int | None = None
    sqnr_db: float | None = None
    constant: bool | None = None
    good_to: float | None = None
    apart: float | None = None
    detail: str | None = None


@dataclass(frozen=True, kw_only=True)
class NumericResult(NumericFinding):
    """A numeric finding with the limit on its ratio and the verdict."""

    verdict: Verdict
    limit: float | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class DecisionFinding:
    """A metric of what users act on, over `n` decisions.

    `low` and `high` bound `value` with 95 % confidence; they are absent where one sample is all there is.
    `flips` are decisions that changed by more than arithmetic noise explains, `ties` are those that changed
    within it. `reference` is what the reference itself scores against the labels.
    """

    output: str
    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    reference: float | None = None
    flips: int | None = None
    ties: int | None = None
    n: int | None = None


@dataclass(frozen=True, kw_only=True)
class DecisionResult(DecisionFinding):
    """A decision finding with its limit and verdict; both absent where it is information only."""

    verdict: Verdict | None = None
    limit: float | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShapeFinding:
    """One shape of the sweep: what happened there, and its worst output as a numeric finding has it.

    `sizes` has the size of every symbol but the batch, where the call stands for those as well.
    """

    batch: int
    symptom: Symptom
    output: str | None = None
    error: float | None = None
    ratio: float | None = None
    allowance: float | None = None
    detail: str | None = None
    sizes: dict[str, int] | None = None

    @property
    def shape(self) -> str:
        """`8`, or `2, T=7` where other symbols have a size of their own."""
        return ", ".join([str(self.batch), *(f"{name}={size}" for name, size in (self.sizes or {}).items())])


@dataclass(frozen=True, kw_only=True)
class ShapeResult(ShapeFinding):
    """A shape finding with its verdict."""

    verdict: Verdict
    limit: float | None = None
    message: str | None = None


def told(
    result: NumericResult | DecisionResult | ShapeResult | BehaviourResult | LatencyResult | BudgetResult,
) -> str:
    """A result's message with the shape, and threads if several, that it is of; empty where it has nothing to say."""
    if not result.message:
        return ""
    batch = result.shape if isinstance(result, ShapeResult) else getattr(result, "batch", None)
    threads = getattr(result, "threads", None) or 1
    place = f"batch {batch}" if threads == 1 else f"batch {batch}, {threads} threads"
    return result.message if batch is None else f"{place}: {result.message}"
