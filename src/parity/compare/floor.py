"""The floor: how far the reference itself is from the oracle, and so what a difference is worth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from parity.arrays import Array, ArrayReader
from parity.compare.aligned import aligned
from parity.compare.errors import MEASURES, Rows, row_errors
from parity.compare.matching import Detections, comparable, detections
from parity.compare.mismatches import repeats
from parity.compare.sets import SetGroup
from parity.records import OutputFacts, ReferenceFacts
from parity.samples.calls import Call, held_out_calls

UNIT_ROUNDOFF: Mapping[str, float] = {
    "float64": 2.0**-53, "complex128": 2.0**-53, "float32": 2.0**-24, "complex64": 2.0**-24,
    "float16": 2.0**-11, "bfloat16": 2.0**-8,
}  # fmt: skip
"""Half the distance from 1 to the next number: the largest relative error of one rounding."""

_CONSTANT_ULPS = 8


@dataclass(frozen=True)
class Yardstick:
    """What the errors of one output are measured with.

    Attributes:
        output: The output that it belongs to.
        rule: `floor`, `reordering` or `exact`.
        scale_rms: RMS of the oracle over all held-out samples.
        scale_peak: Its largest magnitude.
        floors: The reference's worst error by measure, at least one unit of round-off.
        allowance: Square root of the longest reduction times the unit of round-off: the probabilistic
            bound on the error of a sum in any order (Higham and Mary, 2019, theorem 3.1).
        constant: Whether the reference returned the same for every sample, or only zeros.
        unit: The unit of round-off that the floors stand on.
        accepted: Dtypes besides the reference's own that a target may return.
    """

    output: OutputFacts
    rule: str
    scale_rms: float = 0.0
    scale_peak: float = 0.0
    floors: tuple[float, ...] = ()
    allowance: float = 0.0
    constant: bool = False
    unit: float = 0.0
    accepted: frozenset[str] = frozenset()

    @property
    def good_to(self) -> float | None:
        """The relative error of eager itself where that has cost more than half of its digits, or None.

        Half of the digits are left at the square root of the unit of round-off.
        """
        if not self.floors:
            return None
        worst = self.floors[MEASURES.index("max/output")]
        return worst if worst > self.half_digits else None

    @property
    def half_digits(self) -> float:
        """The relative error at which half of the output's digits are left."""
        return math.sqrt(self.unit)

    @property
    def absolute(self) -> float:
        """The floor as a difference of two values of this output."""
        return self.floors[MEASURES.index("max/output")] * self.scale_peak if self.floors else 0.0


class ReferenceArrays:
    """Eager and oracle outputs by call.

    Rows of sets (detections) stand in the oracle's order, in `eager` and in every target that is `aligned`.

    Args:
        eager: What the reference returned.
        oracle: The same in float64.
        sets: Which outputs are sets.
    """

    def __init__(self, eager: ArrayReader, oracle: ArrayReader, sets: Sequence[SetGroup] = ()) -> None:
        self.sets = tuple(sets)
        self.eager = aligned(eager, oracle, oracle, self.sets)
        self.oracle = oracle
        self._plain = eager

    def aligned(self, target: ArrayReader) -> ArrayReader:
        """A target's outputs with the rows of every set where the oracle has them; one that is so already stays."""
        if target.has_views:
            return target
        return aligned(target, self.oracle, self.eager, self.sets, self._other_sets)

    def set_variants(self, group: SetGroup, call: str) -> list[list[Detections]]:
        """The sets of one call as the reference has them under other rounding: the oracle's, and the copies'."""
        copies = [each for each in self.copies(call) if comparable(group, self._plain, self._plain, each)]
        oracle = comparable(group, self.oracle, self._plain, call)
        return [
            *([detections(group, self.oracle, call)] if oracle else []),
            *(detections(group, self._plain, each) for each in copies),
        ]

    def _other_sets(self, group: SetGroup, call: str) -> list[list[Detections]]:
        """The same as the oracle would see them: eager's own in its place."""
        copies = [each for each in self.copies(call) if comparable(group, self._plain, self._plain, each)]
        return [detections(group, self._plain, each) for each in (call, *copies)]

    def copies(self, call: str) -> Sequence[str]:
        """Ids of the jittered copies of a call, or of its reorderings."""
        return self._plain.prefixes(f"{call}~")

    def variants(self, call: str, name: str) -> list[Array]:
        """One output of one call under other rounding: the oracle's, and those of the copies."""
        keys = [f"{each}/{name}" for each in self.copies(call)]
        oracle = [self.oracle.get(f"{call}/{name}")] if f"{call}/{name}" in self.oracle else []
        return oracle + [self.eager.get(key) for key in keys if key in self.eager]

    def rows(self, call: str, output: OutputFacts, target: Array | None = None) -> Rows:
        """Errors of a target in one call, or of the reference itself."""
        reference = self.eager.get(f"{call}/{output.name}")
        exact = self.oracle.get(f"{call}/{output.name}")
        return row_errors(reference if target is None else target, reference, exact, batched=output.batched)


def measure_floor(facts: ReferenceFacts, arrays: ReferenceArrays, calls: Sequence[Call]) -> dict[str, Yardstick]:
    """The yardstick of every output, from the held-out calls and their jittered copies."""
    held_out = held_out_calls(calls)
    return {output.name: _measure(output, facts, arrays, held_out) for output in facts.outputs}


def _measure(output: OutputFacts, facts: ReferenceFacts, arrays: ReferenceArrays, calls: Sequence[Call]) -> Yardstick:
    present = [call for call in calls if f"{call.id}/{output.name}" in arrays.eager]
    total = sum(_numbers(arrays, call, output) for call in present)
    if output.dtype not in UNIT_ROUNDOFF:
        return Yardstick(output, "exact", constant=total == 0 or _constant(output, arrays, present, 0.0))
    rows = [arrays.rows(call.id, output) for call in present]
    scale_rms = math.sqrt(sum(row.signal for row in rows) / total) if total else 0.0
    scale_peak = max((float(row.scale_peak.max(initial=0.0)) for row in rows), default=0.0)
    unit = UNIT_ROUNDOFF[output.dtype]
    copies = [
        arrays.rows(f"{call.id}~{number}", output)
        for call in present
        for number in range(facts.jittered_copies)
        if f"{call.id}~{number}/{output.name}" in arrays.eager and f"{call.id}~{number}/{output.name}" in arrays.oracle
    ]
    return Yardstick(
        output=output,
        rule="floor" if facts.oracle == "float64" else "reordering",
        scale_rms=scale_rms,
        scale_peak=scale_peak,
        floors=worst_errors([*rows, *copies], scale_rms, scale_peak, unit),
        allowance=math.sqrt(facts.longest_reduction) * unit,
        unit=unit,
        constant=scale_peak == 0.0 or _constant(output, arrays, present, _CONSTANT_ULPS * unit),
    )


def worst_errors(rows: Iterable[Rows], scale_rms: float, scale_peak: float, unit: float) -> tuple[float, ...]:
    """The worst finite error by measure, at least one unit of round-off."""
    worst = np.full(len(MEASURES), unit)
    for row in rows:
        errors = row.relative(scale_rms, scale_peak)
        finite = np.where(np.isfinite(errors), errors, 0.0)
        worst = np.maximum(worst, finite.max(axis=1, initial=0.0))
    return tuple(float(value) for value in worst)


def _numbers(arrays: ReferenceArrays, call: Call, output: OutputFacts) -> int:
    return int(arrays.eager.get(f"{call.id}/{output.name}").size)


def _constant(output: OutputFacts, arrays: ReferenceArrays, calls: Sequence[Call], slack: float) -> bool:
    """Whether every sample got the same answer; one sample alone cannot tell."""
    first: Array | None = None
    seen = 0
    for call in calls:
        array = arrays.eager.get(f"{call.id}/{output.name}")
        rows = array if output.batched else array[None]
        if first is None and len(rows):
            first = rows[0]
        if first is not None and not repeats(rows, first, slack):
            return False
        seen += len(rows)
    return seen > 1
