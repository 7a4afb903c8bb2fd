"""A cell judged: one target's outputs become findings, and the findings a verdict."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from parity.arrays import Array, ArrayReader
from parity.artifacts import QUANTIZED
from parity.compare.behaviour import REPEATABILITY, compare_batches, compare_repeats
from parity.compare.decisions import compare_decisions
from parity.compare.declared import CONSTANT_DIMENSION
from parity.compare.floor import ReferenceArrays, Yardstick
from parity.compare.numeric import compare_held_out, own_noise
from parity.compare.sweep import by_output_alone, compare_sweep, left_out
from parity.gates.behaviour import judge_behaviour
from parity.gates.decision import judge_decision
from parity.gates.numeric import judge_numeric, judge_shape
from parity.models.matching import MATCHED
from parity.models.spec import Limits
from parity.records import (
    BehaviourFinding,
    BehaviourResult,
    DecisionResult,
    NumericResult,
    Record,
    ReferenceFacts,
    ShapeResult,
    Stage,
    Symptom,
    Verdict,
    told,
    worst,
)
from parity.samples.calls import Call, held_out_calls

CAUSES = (CONSTANT_DIMENSION, REPEATABILITY)
"""Kinds of behaviour that are why numbers and shapes fail, and not what follows from it."""

Result = BehaviourResult | NumericResult | DecisionResult | ShapeResult


@dataclass(frozen=True)
class Reference:
    """The reference's facts, arrays and yardsticks.

    `undecided` says why these can judge nothing, if so. `mixed` are outputs whose answer to a sample depends on
    the batch that it comes in.
    """

    facts: ReferenceFacts
    arrays: ReferenceArrays
    yardsticks: Mapping[str, Yardstick]
    undecided: str | None = None
    mixed: Collection[str] = ()


@dataclass(frozen=True)
class Cell:
    """What a target answered.

    Attributes:
        target: The target's name.
        precision: `float`, or what the artifact was reduced or quantized to.
        limits: What the gates allow it.
        calls: The calls that were planned.
        outputs: The arrays it returned, by call.
        failed: The line that matters for each call that raised.
        labels: Labels of the held-out samples, or None.
        synthetic: Whether the samples are random.
        left_out: Batch sizes that were asked for and that the signature does not allow.
        allowed: What it does allow.
        observed: What the artifact declares, and how it took what the model refuses.
    """

    target: str
    precision: str
    limits: Limits
    calls: Sequence[Call]
    outputs: ArrayReader
    failed: Mapping[str, str]
    labels: Array | None
    synthetic: bool
    left_out: Sequence[int] = ()
    allowed: str = ""
    observed: Sequence[BehaviourFinding] = ()


def judge_cell(cell: Cell, reference: Reference) -> Record:
    """The record of a target that ran, without latency."""
    cell = replace(cell, outputs=reference.arrays.aligned(cell.outputs))
    broken = [call for call in held_out_calls(cell.calls) if call.id in cell.failed]
    numeric, decisions = ((), ()) if broken else _held_out(cell, reference)
    shapes = _sweep(cell, reference, complete=not broken)
    behaviour = _behaviour(cell, reference, ran_everywhere=all(each.verdict is not Verdict.FAIL for each in shapes))
    # What became a constant or is random explains the rest, so its message comes first.
    causes = [each for each in behaviour if each.kind in CAUSES]
    effects = [each for each in behaviour if each.kind not in CAUSES]
    results: tuple[Result, ...] = (*causes, *numeric, *decisions, *shapes, *effects)
    verdict = worst(result.verdict for result in results if result.verdict is not None)
    message = next((told(result) for result in results if result.verdict is verdict and result.message), "")
    record = Record(
        target=cell.target,
        verdict=verdict,
        stage=Stage.DONE,
        symptom=Symptom.OK,
        message=message,
        precision=cell.precision,
        numeric=numeric,
        decisions=decisions,
        shapes=shapes,
        behaviour=behaviour,
    )
    if broken:
        raised = f"a call of {len(broken[0].samples)} samples: {cell.failed[broken[0].id]}{_doubts(cell)}"
        # A runtime that refuses a size says so in its own words, and rarely which dimension it took for a constant.
        constants = [each.message for each in causes if each.kind == CONSTANT_DIMENSION and each.message]
        message = ": ".join([*constants[:1], raised])
        return replace(record, verdict=Verdict.FAIL, stage=Stage.RUN, symptom=Symptom.EXCEPTION, message=message)
    if reference.facts.unstable:
        return _undecided(record, f"the reference is not deterministic: {reference.facts.unstable}")
    if reference.undecided:
        return _undecided(record, reference.undecided)
    if verdict is Verdict.FAIL:
        return replace(record, stage=Stage.COMPARE, symptom=Symptom.MISMATCH, message=f"{message}{_doubts(cell)}")
    open_question = _open_question(cell, (*numeric, *decisions))
    return replace(record, verdict=Verdict.INCONCLUSIVE, message=open_question) if open_question else record


def _doubts(cell: Cell) -> str:
    """What to add to a failure that may only mean that inputs or outputs were taken for each other."""
    found = [each.detail for each in cell.observed if each.kind == MATCHED and each.detail]
    return f"; {'; '.join(found)}" if found else ""


def _undecided(record: Record, message: str) -> Record:
    """The record of a target that nothing can be held against: what was measured stays, no verdict does."""
    return replace(
        record,
        verdict=Verdict.INCONCLUSIVE,
        message=message,
        numeric=tuple(replace(each, verdict=Verdict.INCONCLUSIVE, message=None) for each in record.numeric),
        decisions=tuple(
            each if each.verdict is None else replace(each, verdict=Verdict.INCONCLUSIVE, message=None)
            for each in record.decisions
        ),
        shapes=tuple(
            each if each.verdict is Verdict.SKIP else replace(each, verdict=Verdict.INCONCLUSIVE, message=None)
            for each in record.shapes
        ),
        behaviour=tuple(
            each if each.verdict is None else replace(each, verdict=Verdict.INCONCLUSIVE, message=None)
            for each in record.behaviour
        ),
    )


def _held_out(cell: Cell, reference: Reference) -> tuple[tuple[NumericResult, ...], tuple[DecisionResult, ...]]:
    numeric = compare_held_out(cell.outputs, reference.arrays, reference.yardsticks, cell.calls)
    decisions = compare_decisions(cell.outputs, reference.arrays, reference.yardsticks, cell.calls, cell.labels)
    decided = {finding.output for finding in decisions}
    return (
        tuple(
            judge_numeric(finding, cell.limits, cell.precision, decided=finding.output in decided)
            for finding in numeric
        ),
        tuple(judge_decision(finding, cell.limits, cell.precision) for finding in decisions),
    )


def _sweep(cell: Cell, reference: Reference, *, complete: bool) -> tuple[ShapeResult, ...]:
    yardsticks = reference.yardsticks
    if complete and cell.precision in QUANTIZED:
        yardsticks = own_noise(cell.outputs, reference.arrays, yardsticks, cell.calls)
    sized = yardsticks if cell.precision == "float" else by_output_alone(yardsticks)
    plain = [call for call in cell.calls if not call.sizes]
    others = [call for call in cell.calls if call.sizes]
    decided = () if cell.precision == "float" else _decided(yardsticks)
    findings = (
        *compare_sweep(cell.outputs, reference.arrays, yardsticks, plain, cell.failed, decided=decided),
        *compare_sweep(cell.outputs, reference.arrays, sized, others, cell.failed, decided=decided),
    )
    if not complete and cell.precision in QUANTIZED:
        # Without its own noise to hold them against, that these shapes ran is all that can be said.
        findings = tuple(replace(finding, error=None, ratio=None, allowance=None) for finding in findings)
    return tuple(judge_shape(each, cell.limits) for each in (*findings, *left_out(cell.left_out, cell.allowed)))


def _decided(yardsticks: Mapping[str, Yardstick]) -> tuple[str, ...]:
    """Outputs whose differences are decisions, which a target that is not exact may change now and then."""
    return tuple(name for name, each in yardsticks.items() if each.output.decision not in (None, "none"))


def _behaviour(cell: Cell, reference: Reference, *, ran_everywhere: bool) -> tuple[BehaviourResult, ...]:
    yardsticks = reference.yardsticks
    invariant = {name: each for name, each in yardsticks.items() if name not in reference.mixed}
    found = (
        *(each for each in cell.observed if not each.name.startswith("output ") or not ran_everywhere),
        *compare_repeats(cell.outputs.plain(), yardsticks, cell.calls, cell.failed),
        *compare_batches(cell.outputs, reference.arrays, invariant, cell.calls),
    )
    return tuple(judge_behaviour(each, cell.limits, quantized=cell.precision != "float") for each in found)


def _open_question(cell: Cell, results: Sequence[NumericResult | DecisionResult]) -> str:
    """Why a quantized target that did not fail is undecided all the same; empty where it is not."""
    if cell.precision not in QUANTIZED:
        return ""
    if cell.synthetic:
        return "random inputs say little about quantized decisions: give --samples"
    if not any(result.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE) for result in results):
        return (
            "no output stands for a decision: name one with `decision` (`binary` for a score with a threshold), "
            "or set limits.sqnr_db to judge it by its noise"
        )
    return ""
