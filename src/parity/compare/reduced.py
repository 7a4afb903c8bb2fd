"""The floor of a reduced precision: the error of the eager model in that precision, against the same oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from parity.arrays import ArrayReader
from parity.compare.floor import UNIT_ROUNDOFF, ReferenceArrays, Yardstick, worst_errors
from parity.samples.calls import Call, held_out_calls


def wider_outputs(yardsticks: Mapping[str, Yardstick], precision: str) -> tuple[str, ...]:
    """Outputs that the model itself computes in more digits than `precision` has."""
    unit = UNIT_ROUNDOFF[precision]
    return tuple(name for name, each in yardsticks.items() if each.rule != "exact" and each.unit < unit)


def reduced_yardsticks(
    yardsticks: Mapping[str, Yardstick],
    reduced: ArrayReader,
    arrays: ReferenceArrays,
    calls: Sequence[Call],
    precision: str,
) -> tuple[dict[str, Yardstick], str | None]:
    """Yardsticks whose floors are those of the eager model in `precision`, and why they cannot be used, if so.

    What the float16 eager model overflows in, or returns in another shape, has no floor.
    """
    made, reduced = dict(yardsticks), arrays.aligned(reduced)
    held_out = held_out_calls(calls)
    for name in wider_outputs(yardsticks, precision):
        yardstick = yardsticks[name]
        rows = []
        for call in held_out:
            key = f"{call.id}/{name}"
            if key not in arrays.eager:
                continue
            eager = arrays.eager.get(key)
            if key not in reduced or reduced.get(key).shape != eager.shape:
                return made, f"eager in {precision} returns another {name!r} than in {eager.dtype.name}"
            values = reduced.get(key)
            if not np.array_equal(np.isfinite(values), np.isfinite(eager)):
                return made, f"eager in {precision} overflows in {name!r}"
            rows.append(arrays.rows(call.id, yardstick.output, values))
        unit = UNIT_ROUNDOFF[precision]
        floors = worst_errors(rows, yardstick.scale_rms, yardstick.scale_peak, unit)
        floors = tuple(np.maximum(floors, yardstick.floors).tolist())
        made[name] = replace(yardstick, floors=floors, unit=unit, accepted=frozenset({precision}))
    return made, None
