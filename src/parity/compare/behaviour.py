"""Findings on whether a target answers alike: the same input again, and a sample alone or in a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from parity.arrays import Array, ArrayReader
from parity.compare.errors import row_errors
from parity.compare.floor import ReferenceArrays, Yardstick
from parity.compare.mismatches import mismatches
from parity.records import BehaviourFinding
from parity.samples.calls import AGAIN, LAST, Call, held_out_calls

REPEATABILITY = "repeatability"
BATCH_INVARIANCE = "batch_invariance"

_WHEN = {AGAIN: "when it is given twice in a row", LAST: "when it is given again after all other calls"}


@dataclass(frozen=True)
class _Pair:
    """Two answers that should be the same, of the same shape, and the samples of their rows."""

    one: Array
    other: Array
    samples: Sequence[int]
    when: str = ""


def compare_repeats(
    target: ArrayReader, yardsticks: Mapping[str, Yardstick], calls: Sequence[Call], failed: Mapping[str, str]
) -> tuple[BehaviourFinding, ...]:
    """The finding on the output that changes most when the first call is made again; nothing where it was not made."""
    first = held_out_calls(calls)[0]
    if first.id in failed:
        return ()
    found: list[BehaviourFinding] = []
    for suffix, when in _WHEN.items():
        again = f"{first.id}{suffix}"
        if again in failed:
            detail = f"the first input raises {when}: {failed[again]}"
            return (BehaviourFinding(kind=REPEATABILITY, name="every output", detail=detail),)
        for name, yardstick in yardsticks.items():
            one, other = f"{first.id}/{name}", f"{again}/{name}"
            if one in target and other in target:
                pair = _Pair(target.get(one), target.get(other), first.judged, when)
                found.append(_differ(REPEATABILITY, yardstick, [pair]))
    return (max(found, key=_gravity),) if found else ()


def compare_batches(
    target: ArrayReader, arrays: ReferenceArrays, yardsticks: Mapping[str, Yardstick], calls: Sequence[Call]
) -> tuple[BehaviourFinding, ...]:
    """The finding on the output that depends most on the batch that a sample comes in; eager's own does not."""
    sets = {name for group in arrays.sets for name in group.members}
    found = [
        _differ(BATCH_INVARIANCE, yardstick, pairs)
        for name, yardstick in yardsticks.items()
        if name not in sets and (pairs := list(_pairs(target, name, yardstick, calls)))
    ]
    return (max(found, key=_gravity),) if found else ()


def mixed_outputs(
    arrays: ReferenceArrays, yardsticks: Mapping[str, Yardstick], calls: Sequence[Call], limit: float
) -> tuple[str, ...]:
    """Outputs of the reference itself that depend on the batch that a sample comes in, by more than `limit` floors."""
    found: list[str] = []
    for name, yardstick in yardsticks.items():
        pairs = list(_pairs(arrays.eager, name, yardstick, calls))
        if pairs:
            finding = _differ(BATCH_INVARIANCE, yardstick, pairs)
            beyond = (finding.ratio or 0.0) > limit and (finding.error or 0.0) > (finding.allowance or 0.0)
            if beyond or finding.mismatched:
                found.append(name)
    return tuple(found)


def _pairs(reader: ArrayReader, name: str, yardstick: Yardstick, calls: Sequence[Call]) -> Iterator[_Pair]:
    """Answers to the samples of every plain batch size, against those to the same samples in the held-out calls.

    Floats alone: an integer may rest on a tie that rounding decides, and is looked at in every call anyway.
    """
    if not yardstick.output.batched or yardstick.rule == "exact":
        return
    places = {sample: (call, row) for call in held_out_calls(calls) for row, sample in enumerate(call.judged)}
    for call in calls:
        key = f"{call.id}/{name}"
        if call.sweep is None or call.sizes or key not in reader:
            continue
        rows = reader.get(key)
        held = [places[sample] for sample in call.samples]
        if len(rows) != len(call.samples) or any(f"{each.id}/{name}" not in reader for each, _ in held):
            continue
        others = [_row(reader.get(f"{each.id}/{name}"), row) for each, row in held]
        if all(other is not None and other.shape == rows.shape[1:] for other in others):
            other = np.stack([each for each in others if each is not None])
            yield _Pair(rows, other, call.samples, f"in a batch of {len(rows)} and of {len(held[0][0].samples)}")


def _row(array: Array, row: int) -> Array | None:
    return array[row] if row < len(array) else None


def _differ(kind: str, yardstick: Yardstick, pairs: Sequence[_Pair]) -> BehaviourFinding:
    findings = [_difference(kind, yardstick, pair) for pair in pairs]
    return max(findings, key=_gravity)


def _gravity(finding: BehaviourFinding) -> tuple[bool, int, bool, float]:
    error, allowance = finding.error or 0.0, finding.allowance or 0.0
    structural = finding.ratio is None and finding.detail is not None
    return structural, finding.mismatched or 0, error > allowance, finding.ratio or 0.0


def _difference(kind: str, yardstick: Yardstick, pair: _Pair) -> BehaviourFinding:
    name, one, other = yardstick.output.name, pair.one, pair.other
    finding = BehaviourFinding(kind=kind, name=name, worst_sample=pair.samples[0])
    if one.shape != other.shape or one.dtype != other.dtype:
        detail = f"{one.dtype.name}{list(one.shape)} and {other.dtype.name}{list(other.shape)} {pair.when}"
        return replace(finding, detail=detail)
    if yardstick.rule == "exact" or one.dtype.kind not in "fc":
        unequal = mismatches(one, other, batched=yardstick.output.batched).rows
        if not unequal.any():
            return finding
        count, place = int(unequal.sum()), int(np.argmax(unequal))
        detail = f"{count} values differ {pair.when}"
        return replace(finding, mismatched=count, worst_sample=pair.samples[place], detail=detail)
    rows = row_errors(one, other, other, batched=yardstick.output.batched)
    if rows.misplaced:
        detail = f"{rows.misplaced} values are NaN or infinite in one of the answers {pair.when}"
        return replace(finding, mismatched=rows.misplaced, detail=detail)
    errors = rows.relative(yardstick.scale_rms, yardstick.scale_peak)
    ratios = errors / np.asarray(yardstick.floors)[:, None]
    if not ratios.size:
        return finding
    measure, row = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    error = float(errors[measure, row])
    return replace(
        finding,
        error=error,
        ratio=float(ratios[measure, row]),
        allowance=yardstick.allowance,
        sqnr_db=float(10 * np.log10(rows.signal / rows.noise)) if rows.noise > 0 and rows.signal > 0 else None,
        worst_sample=pair.samples[int(row)],
        detail=f"the answers differ by {error:.2g} {pair.when}" if error else None,
    )
