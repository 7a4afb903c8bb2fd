"""Outputs in each other's place: right values under the wrong names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from parity.arrays import Array, ArrayReader, dtype_name
from parity.compare.errors import MEASURES
from parity.compare.floor import ReferenceArrays, Yardstick
from parity.records import NumericFinding
from parity.samples.calls import Call

CLOSER = 10.0
"""An output stands in another's place where it is this many times closer to that one than to its own."""

ALIKE = 0.25
"""Largest relative RMS error at which one output is taken for another: 12 dB, which any usable int8 export has."""

_RMS = MEASURES.index("rms/output")


def reordered(
    findings: Sequence[NumericFinding],
    target: ArrayReader,
    arrays: ReferenceArrays,
    yardsticks: Mapping[str, Yardstick],
    calls: Sequence[Call],
) -> tuple[NumericFinding, ...]:
    """The findings, those of outputs that were exchanged among each other as `order`, with their numbers.

    Each output of a cycle holds, in the call in which it is worst, what the next one should.
    """
    wrong = [finding for finding in findings if _wrong(finding)]
    places = _Places(arrays.aligned(target), arrays, yardsticks, calls)
    holds = {finding.output: places.held_by(finding, wrong) for finding in wrong} if len(wrong) > 1 else {}
    return tuple(
        replace(finding, rule="order", detail=_exchanged(finding.output, holds))
        if finding in wrong and _in_cycle(finding.output, holds)
        else finding
        for finding in findings
    )


def _exchanged(name: str, holds: Mapping[str, str | None]) -> str:
    other = holds[name]
    swapped = f", and {other} what {name} should: they look swapped" if other and holds.get(other) == name else ""
    return f"it holds what {other} should{swapped}"


def _wrong(finding: NumericFinding) -> bool:
    if finding.ratio is not None:
        return finding.ratio >= CLOSER
    return finding.rule in ("rank", "shape", "dtype", "nonfinite") or bool(finding.mismatched)


def _in_cycle(name: str, holds: Mapping[str, str | None]) -> bool:
    place = holds.get(name)
    for _ in holds:
        if place is None or place == name:
            break
        place = holds.get(place)
    return place == name


@dataclass(frozen=True)
class _Places:
    target: ArrayReader
    arrays: ReferenceArrays
    yardsticks: Mapping[str, Yardstick]
    calls: Sequence[Call]

    def held_by(self, finding: NumericFinding, others: Sequence[NumericFinding]) -> str | None:
        """The output whose values stand in this one's place, or None."""
        call = next((each for each in self.calls if finding.worst_sample in each.samples), self.calls[0])
        name = finding.output
        key = f"{call.id}/{name}"
        if key not in self.target:
            return None
        distances = {other.output: self._distance(self.target.get(key), other.output, call) for other in others}
        own = distances.pop(name)
        nearest = min(distances, key=lambda other: distances[other])
        near = distances[nearest]
        if near > ALIKE or near * CLOSER >= own:
            return None
        if self.yardsticks[nearest].rule == "exact" and not self._equal_everywhere(name, nearest):
            return None
        return nearest

    def _equal_everywhere(self, name: str, other: str) -> bool:
        """Whether one output has another's integers in every call: in a single one a few may be equal by chance."""
        return all(
            np.array_equal(self.target.get(f"{call.id}/{name}"), self.arrays.eager.get(f"{call.id}/{other}"))
            for call in self.calls
            if f"{call.id}/{name}" in self.target and f"{call.id}/{other}" in self.arrays.eager
        )

    def _distance(self, theirs: Array, name: str, call: Call) -> float:
        """Relative RMS error to what the reference returns under a name; infinite where it cannot be that."""
        yardstick, key = self.yardsticks[name], f"{call.id}/{name}"
        if key not in self.arrays.eager:
            return np.inf
        ours = self.arrays.eager.get(key)
        accepted = {dtype_name(ours), *yardstick.accepted}
        if theirs.shape != ours.shape or dtype_name(theirs) not in accepted:
            return np.inf
        if yardstick.rule == "exact":
            return 0.0 if np.array_equal(theirs, ours) else np.inf
        rows = self.arrays.rows(call.id, yardstick.output, theirs)
        if rows.misplaced:
            return np.inf
        return float(rows.relative(yardstick.scale_rms, yardstick.scale_peak)[_RMS].max(initial=0.0))
