"""What a target returned besides its values: which outputs, of which rank, shape and dtype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parity.arrays import Array, ArrayReader, dtype_name
from parity.compare.floor import ReferenceArrays, Yardstick
from parity.records import NumericFinding
from parity.samples.calls import Call

EMPTY = "the reference returns no element for any sample"
"""What is said of an output without a single number in any call."""

_PARTS = 2
"""Numbers that a complex one is made of."""


def extra_outputs(
    target: ArrayReader, arrays: ReferenceArrays, yardsticks: Mapping[str, Yardstick], calls: Sequence[Call]
) -> tuple[NumericFinding, ...]:
    """One finding for each output that the target returns in a call in which the reference does not."""
    found: dict[str, NumericFinding] = {}
    for call in calls:
        ours = arrays.eager.get_all(call.id)
        for name in target.get_all(call.id):
            if name not in ours and name not in found:
                where = f", for a call of {len(call.samples)}" if name in yardsticks else ""
                detail = f"the reference returns only {', '.join(ours)}{where}"
                found[name] = NumericFinding(output=name, rule="extra", detail=detail)
    return tuple(found.values())


def layout_finding(yardstick: Yardstick, target: ArrayReader, eager: ArrayReader, call: Call) -> NumericFinding | None:
    """How one output disagrees in one call before any value is looked at; None where it does not."""
    name = yardstick.output.name
    key = f"{call.id}/{name}"
    if key not in target:
        got = ", ".join(target.get_all(call.id)) or "nothing"
        return NumericFinding(output=name, rule="missing", detail=f"the target returned {got}")
    ours, theirs = eager.get(key), target.get(key)
    if dtype_name(theirs) != dtype_name(ours) and dtype_name(theirs) not in yardstick.accepted:
        detail = f"{dtype_name(theirs)}, not {dtype_name(ours)}{_taken_apart(theirs, ours)}"
        return NumericFinding(output=name, rule="dtype", detail=detail)
    if theirs.shape != ours.shape:
        detail = f"{list(theirs.shape)}, not {list(ours.shape)}, for a call of {len(call.samples)}"
        rule = "rank" if theirs.ndim != ours.ndim else "shape"
        return NumericFinding(output=name, rule=rule, detail=detail, worst_sample=call.samples[0])
    return None


def _taken_apart(theirs: Array, ours: Array) -> str:
    """A remark where complex numbers have become pairs, which is what ONNX makes of them."""
    pairs = ours.dtype.kind == "c" and theirs.dtype.kind == "f" and theirs.shape == (*ours.shape, _PARTS)
    return ": real and imaginary parts along another axis, as torch.view_as_real has them" if pairs else ""
