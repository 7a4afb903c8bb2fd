"""Findings on one target's outputs: structure first, then values, over held-out calls and the sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from parity.arrays import Array, ArrayReader
from parity.compare.errors import MEASURES, Floats, Rows
from parity.compare.exact import compare_exact
from parity.compare.floor import ReferenceArrays, Yardstick
from parity.compare.layout import EMPTY, extra_outputs, layout_finding
from parity.compare.order import reordered
from parity.compare.unmatched import in_sets
from parity.records import NumericFinding
from parity.samples.calls import Call, held_out_calls


def compare_held_out(
    target: ArrayReader, arrays: ReferenceArrays, yardsticks: Mapping[str, Yardstick], calls: Sequence[Call]
) -> tuple[NumericFinding, ...]:
    """One finding for each output of the reference, and one for each that the target has besides."""
    held_out = held_out_calls(calls)
    those = returned(arrays, yardsticks, held_out)
    findings = [compare_output(target, arrays, each, held_out, yardsticks) for each in those]
    return (
        *reordered(findings, target, arrays, yardsticks, held_out),
        *extra_outputs(target, arrays, yardsticks, held_out),
    )


def returned(arrays: ReferenceArrays, yardsticks: Mapping[str, Yardstick], calls: Sequence[Call]) -> list[Yardstick]:
    """Yardsticks of the outputs that the reference returns in any of these calls."""
    return [each for name, each in yardsticks.items() if any(f"{call.id}/{name}" in arrays.eager for call in calls)]


def compare_output(
    target: ArrayReader,
    arrays: ReferenceArrays,
    yardstick: Yardstick,
    calls: Sequence[Call],
    others: Mapping[str, Yardstick] | None = None,
) -> NumericFinding:
    """The finding for one output over some calls; structural disagreement ends the comparison at once.

    `others` are the yardsticks of all outputs: an index output is read with the values that it orders, and
    boxes with their scores.
    """
    name, target = yardstick.output.name, arrays.aligned(target)
    present: list[Call] = []
    rows: list[tuple[Call, Rows]] = []
    for call in calls:
        key = f"{call.id}/{name}"
        if key not in arrays.eager:
            continue
        disagreement = layout_finding(yardstick, target, arrays.eager, call)
        if disagreement is not None:
            return disagreement
        present.append(call)
        if yardstick.rule != "exact":
            errors = arrays.rows(call.id, yardstick.output, target.get(key))
            if errors.misplaced:
                return _nonfinite(target.get(key), arrays.eager.get(key), errors, yardstick, call)
            rows.append((call, errors))
    if yardstick.rule == "exact":
        joined = compare_exact(target, arrays, yardstick, others or {}, present)
    else:
        joined = in_sets(_join_floats(rows, yardstick), target, arrays, others or {}, present)
    empty = not any(arrays.eager.get(f"{call.id}/{name}").size for call in present)
    return replace(joined, detail=EMPTY) if empty else joined


def _nonfinite(theirs: Array, ours: Array, rows: Rows, yardstick: Yardstick, call: Call) -> NumericFinding:
    """NaN and infinity belong where the reference has them, and nowhere else."""
    place = np.unravel_index(rows.first_misplaced or 0, ours.shape)
    sample = call.samples[int(place[0])] if place and len(call.samples) == len(ours) else call.samples[0]
    detail = f"{theirs[place]} where the reference has {ours[place]}, and at {rows.misplaced - 1} more places"
    return NumericFinding(
        output=yardstick.output.name,
        rule="nonfinite",
        detail=detail,
        mismatched=rows.misplaced,
        worst_sample=int(sample),
    )


def own_noise(
    target: ArrayReader, arrays: ReferenceArrays, yardsticks: Mapping[str, Yardstick], calls: Sequence[Call]
) -> dict[str, Yardstick]:
    """Yardsticks whose floor is the target's own worst error over the held-out calls.

    A quantized target is far above the reference's floor by design; what the sweep can ask of it is
    that another batch size does not make it worse than it is.
    """
    held_out, target = held_out_calls(calls), arrays.aligned(target)
    return {name: _noise_of(target, arrays, yardstick, held_out) for name, yardstick in yardsticks.items()}


def _noise_of(target: ArrayReader, arrays: ReferenceArrays, yardstick: Yardstick, calls: Sequence[Call]) -> Yardstick:
    keys = [(call, f"{call.id}/{yardstick.output.name}") for call in calls]
    rows = [
        (call, arrays.rows(call.id, yardstick.output, target.get(key)))
        for call, key in keys
        if yardstick.rule != "exact" and key in target and target.get(key).shape == arrays.eager.get(key).shape
    ]
    if not rows:
        return yardstick
    worst = np.stack([errors.max(axis=1, initial=0.0) for _, errors in _relative(rows, yardstick)]).max(axis=0)
    return replace(yardstick, floors=tuple(np.maximum(worst, yardstick.floors).tolist()))


def _relative(rows: Sequence[tuple[Call, Rows]], yardstick: Yardstick) -> list[tuple[Call, Floats]]:
    return [(call, row.relative(yardstick.scale_rms, yardstick.scale_peak)) for call, row in rows]


def _join_floats(rows: Sequence[tuple[Call, Rows]], yardstick: Yardstick) -> NumericFinding:
    floors = np.asarray(yardstick.floors)
    relative = _relative(rows, yardstick)
    by_measure = np.stack([errors.max(axis=1, initial=0.0) for _, errors in relative])
    worst = by_measure.max(axis=0)
    ratios = worst / floors
    # A measure within the allowance for long sums is no worse than one that is not, whatever its ratio.
    unexplained = worst > yardstick.allowance
    chosen = int(np.argmax(np.where(unexplained, ratios, -1.0) if unexplained.any() else ratios))
    worst_call, worst_errors = relative[int(np.argmax(by_measure[:, chosen]))]
    max_abs = max(float(row.to_eager.max(initial=0.0)) for _, row in rows)
    noise, signal = sum(row.noise for _, row in rows), sum(row.signal for _, row in rows)
    return NumericFinding(
        output=yardstick.output.name,
        rule=yardstick.rule,
        error=float(worst[chosen]),
        floor=float(floors[chosen]),
        ratio=float(ratios[chosen]),
        allowance=yardstick.allowance,
        measure=MEASURES[chosen],
        max_abs=max_abs,
        worst_sample=_sample(worst_call, worst_errors[chosen]),
        n=sum(len(row.rms) for _, row in rows),
        sqnr_db=float(10 * np.log10(signal / noise)) if noise > 0 and signal > 0 else None,
        good_to=yardstick.good_to,
        apart=_apart(max_abs, yardstick),
        constant=yardstick.constant or None,
    )


def _apart(max_abs: float, yardstick: Yardstick) -> float | None:
    """How far the target is from eager, relative to the output, where that is more than half of the digits."""
    if yardstick.good_to is None or not yardstick.scale_peak:
        return None
    apart = max_abs / yardstick.scale_peak
    return apart if apart > yardstick.half_digits else None


def _sample(call: Call, errors: Floats) -> int:
    place = int(np.argmax(errors))
    return call.samples[place] if place < len(call.samples) else call.samples[0]
