"""Numbers that are equal or not: integers of a target and its reference, and a reference that never changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from parity.arrays import Array
from parity.compare.blocks import Block, Plan, over_blocks


@dataclass(frozen=True)
class Mismatches:
    """How many numbers of each sample differ, int64[samples], and by how much at most."""

    rows: npt.NDArray[np.int64]
    largest: float


def mismatches(target: Array, reference: Array, *, batched: bool) -> Mismatches:
    """Compare number by number in one pass over the arrays, without a copy of any.

    Args:
        target: What the target returned, shape of the reference.
        reference: What eager returned, integers or booleans; of another kind every difference counts as 1.
        batched: Whether the first axis counts samples; otherwise the whole call is one.
    """
    rows = len(reference) if batched else 1
    plan = Plan(rows, reference.size // rows if rows else 0)
    counts, gaps = np.zeros(plan.lines, np.int64), np.zeros(plan.lines)

    def compare(block: Block) -> None:
        theirs, ours = block.of(target), block.of(reference)
        wrong = theirs != ours
        counts[block.lines] = np.count_nonzero(wrong, axis=1)
        if counts[block.lines].any():
            gaps[block.lines] = _gap(theirs[wrong], ours[wrong])

    over_blocks(plan, lambda: compare)
    return Mismatches(counts.reshape(rows, plan.per_row).sum(axis=1), float(gaps.max(initial=0.0)))


def _gap(theirs: Array, ours: Array) -> float:
    if ours.dtype.kind not in "iub":
        return 1.0
    gap = np.abs(theirs.astype(np.float64) - ours.astype(np.float64))
    return max(float(gap.max()), 1.0)  # float64 cannot tell large neighbours apart


def repeats(rows: Array, first: Array, slack: float) -> bool:
    """Whether every row is the first one: floats within a relative `slack`, NaN at the same places, others equal.

    Args:
        rows: Any shape `[n, ...]`.
        first: Shape of one row.
        slack: Largest difference of two floats, as a share of the first row's.
    """
    if rows.shape[1:] != first.shape:
        return False
    alike = first.reshape(1, -1)
    for block in Plan(len(rows), first.size):
        column = block.start % max(first.size, 1)
        other = alike[:, column : column + block.columns]
        if not _alike(block.of(rows), other, slack):
            return False
    return True


def _alike(some: Array, other: Array, slack: float) -> bool:
    if some.dtype.kind not in "fc":
        return bool((some == other).all())
    return bool(np.isclose(some, other, rtol=slack, atol=0.0, equal_nan=True).all())
