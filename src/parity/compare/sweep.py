"""Findings on the sweep: batch sizes, and sizes of the other symbols."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from parity.arrays import ArrayReader
from parity.compare.errors import MEASURES
from parity.compare.floor import ReferenceArrays, Yardstick
from parity.compare.layout import extra_outputs
from parity.compare.numeric import compare_output, returned
from parity.records import NumericFinding, ShapeFinding, Symptom
from parity.samples.calls import Call, own_noise_id


def compare_sweep(
    target: ArrayReader,
    arrays: ReferenceArrays,
    yardsticks: Mapping[str, Yardstick],
    calls: Sequence[Call],
    failed: Mapping[str, str],
    *,
    decided: Collection[str] = (),
) -> tuple[ShapeFinding, ...]:
    """One finding for each call of the sweep: it failed, or the worst ratio or disagreement over all outputs.

    Where eager itself did not run there is nothing to hold the target against. Integers that differ, and boxes that
    are on one side only, are passed over in the outputs that are `decided`: they are judged over held-out samples.
    """
    swept = (call for call in calls if call.sweep is not None)
    return tuple(_compare(target, arrays, yardsticks, call, failed, decided=decided) for call in swept)


def left_out(batches: Sequence[int], allowed: str) -> tuple[ShapeFinding, ...]:
    """Batch sizes that were asked for and that the signature does not allow."""
    return tuple(
        ShapeFinding(batch=batch, symptom=Symptom.UNSUPPORTED, detail=f"the signature allows {allowed}")
        for batch in batches
    )


def _compare(
    target: ArrayReader,
    arrays: ReferenceArrays,
    yardsticks: Mapping[str, Yardstick],
    call: Call,
    failed: Mapping[str, str],
    *,
    decided: Collection[str],
) -> ShapeFinding:
    there = ShapeFinding(batch=call.sweep or 0, sizes=dict(call.sizes) or None, symptom=Symptom.OK)
    if not arrays.eager.get_all(call.id):
        return replace(there, symptom=Symptom.UNSUPPORTED, detail="the model itself does not run there")
    if call.id in failed:
        return replace(there, symptom=Symptom.EXCEPTION, detail=failed[call.id])
    used = [_at(call, arrays, each) for each in returned(arrays, yardsticks, [call])]
    findings = [compare_output(target, arrays, each, [call], yardsticks) for each in used]
    findings = [replace(each, mismatched=None) if each.output in decided else each for each in findings]
    return _summarise(there, (*findings, *extra_outputs(target, arrays, yardsticks, [call])))


def _at(call: Call, arrays: ReferenceArrays, yardstick: Yardstick) -> Yardstick:
    """A yardstick that knows what the reference's own error is at sizes that no held-out sample has."""
    if not call.sizes or yardstick.rule == "exact":
        return yardstick
    name = yardstick.output.name
    copies = itertools.takewhile(
        lambda key: f"{key}/{name}" in arrays.eager, (f"{own_noise_id(call)}~{number}" for number in itertools.count())
    )
    worst = np.asarray(yardstick.floors)
    for key in (call.id, *copies):
        errors = arrays.rows(key, yardstick.output).relative(yardstick.scale_rms, yardstick.scale_peak)
        worst = np.maximum(worst, np.where(np.isfinite(errors), errors, 0.0).max(axis=1, initial=0.0))
    return replace(yardstick, floors=tuple(worst.tolist()))


def by_output_alone(yardsticks: Mapping[str, Yardstick]) -> dict[str, Yardstick]:
    """Yardsticks without the measures that are relative to the sample itself.

    The error of a quantized target, or of one in reduced precision, does not shrink with its answer, and nothing
    says how small the answer to a sample may be that is not among the held-out ones.
    """
    kept = [measure.endswith("/output") for measure in MEASURES]
    return {
        name: replace(
            each, floors=tuple(floor if keep else np.inf for floor, keep in zip(each.floors, kept, strict=False))
        )
        for name, each in yardsticks.items()
    }


def _summarise(there: ShapeFinding, findings: Sequence[NumericFinding]) -> ShapeFinding:
    wrong = [each for each in findings if each.mismatched or (each.ratio is None and each.rule != "exact")]
    if wrong:
        told = (f"{each.output} {each.rule}: {each.detail or f'{each.mismatched} values differ'}" for each in wrong)
        output = wrong[0].output if len(wrong) == 1 else None
        return replace(there, symptom=Symptom.MISMATCH, output=output, detail="; ".join(told))
    floats = [finding for finding in findings if finding.ratio is not None]
    if not floats:
        return there
    # An output within the allowance for long sums is no worse than any, whatever its ratio.
    worst = max(floats, key=lambda f: ((f.error or 0.0) > (f.allowance or 0.0), f.ratio or 0.0))
    return replace(there, output=worst.output, error=worst.error, ratio=worst.ratio, allowance=worst.allowance)
