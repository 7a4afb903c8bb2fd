"""Integer and boolean outputs: equal, except where the reference itself has no defined answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from parity.arrays import Array, ArrayReader
from parity.compare.floor import ReferenceArrays, Yardstick
from parity.compare.mismatches import mismatches
from parity.compare.orders import MOVED_FLOORS, Unequal, ValueOutput, compare_orders
from parity.records import NumericFinding
from parity.samples.calls import Call


@dataclass(frozen=True)
class _Part:
    """One call: its finding, its size, and how many of its places have no defined answer."""

    finding: NumericFinding
    size: int
    undefined: int


def compare_exact(
    target: ArrayReader,
    arrays: ReferenceArrays,
    yardstick: Yardstick,
    others: Mapping[str, Yardstick],
    calls: Sequence[Call],
) -> NumericFinding:
    """The finding on one integer or boolean output over calls in which target and reference have the same shape.

    Args:
        target: What the target returned.
        arrays: What the reference returned, and returns under other rounding.
        yardstick: Of the output.
        others: Yardsticks of all outputs: floats of the same shape may hold the values that it orders.
        calls: The calls.
    """
    parts = [_compare(target, arrays, yardstick, others, call) for call in calls]
    worst = max((part.finding for part in parts), key=lambda each: (each.mismatched or 0, each.ties or 0))
    size, undefined = sum(part.size for part in parts), sum(part.undefined for part in parts)
    findings = [part.finding for part in parts]
    most = (
        f"{undefined} of {size} places have no defined answer: rounding decides them" if 2 * undefined > size else None
    )
    return replace(
        worst,
        mismatched=sum(each.mismatched or 0 for each in findings),
        ties=sum(each.ties or 0 for each in findings) or None,
        max_abs=max(each.max_abs or 0.0 for each in findings),
        n=sum(each.n or 0 for each in findings),
        constant=yardstick.constant or None,
        detail=most,
    )


def _compare(
    target: ArrayReader, arrays: ReferenceArrays, yardstick: Yardstick, others: Mapping[str, Yardstick], call: Call
) -> _Part:
    name, batched = yardstick.output.name, yardstick.output.batched
    theirs, ours = target.get(f"{call.id}/{name}"), arrays.eager.get(f"{call.id}/{name}")
    found = mismatches(theirs, ours, batched=batched)
    ties = undefined = 0
    if found.rows.any():
        unequal = unequal_places(target, arrays, name, others, call)
        ties, undefined = int(unequal.tied.sum()), int(unequal.undefined.sum())
        if ties:
            found = mismatches(np.where(unequal.tied, ours, theirs), ours, batched=batched)
    place = int(np.argmax(found.rows)) if len(found.rows) else 0
    finding = NumericFinding(
        output=name,
        rule="exact",
        mismatched=int(found.rows.sum()),
        ties=ties,
        max_abs=found.largest,
        n=len(found.rows),
        worst_sample=call.samples[place] if len(call.samples) > place else call.samples[0],
    )
    return _Part(finding, ours.size, undefined)


def unequal_places(
    target: ArrayReader, arrays: ReferenceArrays, name: str, others: Mapping[str, Yardstick], call: Call
) -> Unequal:
    """Where an integer or boolean output differs in one call, and where that is a tie; its shapes have to agree."""
    theirs, ours = target.get(f"{call.id}/{name}"), arrays.eager.get(f"{call.id}/{name}")
    values = _values(target, arrays, others, call, ours)
    return compare_orders(theirs, ours, arrays.variants(call.id, name), values)


def _values(
    target: ArrayReader,
    arrays: ReferenceArrays,
    others: Mapping[str, Yardstick],
    call: Call,
    ours: Array,
) -> list[ValueOutput]:
    """Float outputs of the same call and shape on both sides."""
    found: list[ValueOutput] = []
    for name, yardstick in others.items():
        key = f"{call.id}/{name}"
        if yardstick.rule == "exact" or yardstick.output.dtype.startswith("complex"):
            continue
        if key in target and key in arrays.eager and arrays.eager.get(key).shape == ours.shape == target.get(key).shape:
            slack = MOVED_FLOORS * yardstick.absolute
            first = int(yardstick.output.batched)
            found.append(ValueOutput(arrays.eager.get(key), target.get(key), slack, first))
    return found
