"""Which detection of one set is which of another.

A runtime that rounds otherwise swaps boxes of near-equal scores, and may choose another of two boxes that
overlap. An untrained SSD differs from itself in float64 by 0.77 of its scale where rows are compared by index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from parity.arrays import Array, ArrayReader
from parity.compare.errors import Floats
from parity.compare.iou import similarity
from parity.compare.sets import SetGroup

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

MOVED = 0.9
"""Boxes that overlap by this much (intersection over union) are one box that has moved; how far is held against
the floor. Two that overlap less are two boxes."""

_LARGEST = 4096
"""More boxes of one label than this are matched only where they stand: the table of all pairs would be too large."""


@dataclass(frozen=True)
class Detections:
    """The set of one sample: boxes float64[K, 4], scores float64[K], labels [K] (zeros where there are none)."""

    boxes: Floats
    scores: Floats
    labels: Array

    def __len__(self) -> int:
        return len(self.boxes)

    def at(self, rows: Ints) -> Detections:
        """Some of the boxes."""
        return Detections(self.boxes[rows], self.scores[rows], self.labels[rows])


@dataclass(frozen=True)
class Matched:
    """Rows of two sets that are pairs, and rows without a counterpart whose being there is no matter of rounding."""

    rows: Ints
    columns: Ints
    lost: Ints
    new: Ints


def detections(group: SetGroup, arrays: ArrayReader, call: str) -> list[Detections]:
    """The sets of one call, one for each sample; one alone where the call is the set."""
    boxes = arrays.get(f"{call}/{group.boxes}").astype(np.float64)
    plain = boxes.shape[:-1]
    scores = arrays.get(f"{call}/{group.scores}").astype(np.float64) if group.scores else np.zeros(plain)
    labels = arrays.get(f"{call}/{group.labels}") if group.labels else np.zeros(plain, np.int64)
    if group.flat:
        return [Detections(boxes, scores, labels)]
    return [Detections(*each) for each in zip(boxes, scores, labels, strict=True)]


def comparable(group: SetGroup, one: ArrayReader, other: ArrayReader, call: str) -> bool:
    """Whether both sides have a set of the same layout in a call, with as many rows in each of its outputs."""
    names = [f"{call}/{name}" for name in group.members]
    if not all(name in side for side in (one, other) for name in names):
        return False
    lead = 1 if group.flat else 2
    shapes = [[side.get(name).shape for name in names] for side in (one, other)]
    beside = all(each[:lead] == side[0][:lead] and len(each) >= lead for side in shapes for each in side)
    return beside and all(
        (*left[: lead - 1], *left[lead:]) == (*right[: lead - 1], *right[lead:])
        for left, right in zip(*shapes, strict=True)
    )


def match_near(one: Detections, other: Detections, near: float) -> tuple[Ints, Ints]:
    """Rows of both sets that are the same box with other rounding, pair by pair, in the order of `one`.

    Corners are within `near` of the largest coordinate, scores within `near` of the largest score, labels equal.
    """
    extent, top = _largest(one.boxes, other.boxes), _largest(one.scores, other.scores)

    def cost(left: Detections, right: Detections) -> Floats:
        with np.errstate(invalid="ignore"):
            apart = np.abs(left.boxes[:, None] - right.boxes[None]).max(axis=-1) / extent
            scores = np.abs(left.scores[:, None] - right.scores[None]) / top
        made: Floats = np.where((apart <= near) & (scores <= near), apart + scores, np.inf)
        return made

    return _assign(one, other, cost)


def match_overlap(one: Detections, other: Detections, least: float) -> tuple[Ints, Ints]:
    """Rows of both sets with equal labels whose boxes overlap by `least` at least.

    The assignment with the largest overlap over all pairs; near-equal overlaps go to the nearer scores.
    """
    top = _largest(one.scores, other.scores)

    def cost(left: Detections, right: Detections) -> Floats:
        alike = similarity(left.boxes[:, None], right.boxes[None])
        scores = np.nan_to_num(np.abs(left.scores[:, None] - right.scores[None]) / top, nan=1.0)
        made: Floats = np.where(alike >= least, 1 - alike + 1e-6 * scores, np.inf)
        return made

    return _assign(one, other, cost)


def match_sets(
    one: Detections,
    other: Detections,
    variants: Sequence[Detections],
    *,
    near: float,
    least: float,
    explained: Callable[[Detections, Detections], tuple[Mask, Mask]] | None = None,
) -> Matched:
    """Pairs of a reference and a target: boxes that are the same, then those that have moved.

    A box is no candidate for having moved, and neither lost nor new, where rounding decides whether it is there: a
    variant of the reference lacks the one's box, or has the other's.

    Args:
        one: The reference's set.
        other: The target's.
        variants: The reference's under other rounding.
        near: As in `match_near`.
        least: As in `match_overlap`, for boxes that have moved.
        explained: Which boxes of both sets something else explains, bool[K] and bool[L].
    """
    same = match_near(one, other, near)
    if len(same[0]) == len(one) == len(other):
        return Matched(*same, lost=np.zeros(0, np.int64), new=np.zeros(0, np.int64))
    unsure = [np.zeros(len(side), bool) for side in (one, other)]
    for variant in variants:
        unsure[0] |= ~_found(one, variant, near)
        unsure[1] |= _found(other, variant, near)
    if explained is not None:
        unsure = [left | right for left, right in zip(unsure, explained(one, other), strict=True)]
    left, right = (np.setdiff1d(np.flatnonzero(~doubt), rows) for doubt, rows in zip(unsure, same, strict=True))
    moved = match_overlap(one.at(left), other.at(right), least)
    return Matched(
        rows=np.concatenate([same[0], left[moved[0]]]),
        columns=np.concatenate([same[1], right[moved[1]]]),
        lost=np.delete(left, moved[0]),
        new=np.delete(right, moved[1]),
    )


def _found(side: Detections, variant: Detections, near: float) -> Mask:
    has = np.zeros(len(side), bool)
    has[match_near(side, variant, near)[0]] = True
    return has


def _largest(one: Floats, other: Floats) -> float:
    """The largest finite magnitude of both, or 1 where there is none."""
    return max(float(np.max(np.abs(each[np.isfinite(each)]), initial=0.0)) for each in (one, other)) or 1.0


def _assign(one: Detections, other: Detections, cost: Callable[[Detections, Detections], Floats]) -> tuple[Ints, Ints]:
    """The cheapest assignment among boxes of equal labels; a pair of infinite cost is none."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  # slow to import, and few models detect

    left: list[Ints] = [np.zeros(0, np.int64)]
    right: list[Ints] = [np.zeros(0, np.int64)]
    for label in np.intersect1d(one.labels, other.labels):
        ours, theirs = np.flatnonzero(one.labels == label), np.flatnonzero(other.labels == label)
        if max(len(ours), len(theirs)) > _LARGEST:
            both = list(zip(ours.tolist(), theirs.tolist(), strict=False))
            pairs = [
                pair for pair in both if np.isfinite(cost(one.at(np.asarray(pair[:1])), other.at(np.asarray(pair[1:]))))
            ]
            rows, columns = (np.asarray([pair[at] for pair in pairs], np.int64) for at in (0, 1))
        else:
            table = cost(one.at(ours), other.at(theirs))
            # More than all pairs that are allowed together: none of them is given up for one that is not.
            price = np.where(np.isfinite(table), table, 4.0 * (len(ours) + len(theirs)))
            at_rows, at_columns = linear_sum_assignment(price)
            kept = np.isfinite(table[at_rows, at_columns])
            rows, columns = ours[at_rows[kept]], theirs[at_columns[kept]]
        left.append(rows)
        right.append(columns)
    found = np.concatenate(left), np.concatenate(right)
    order = np.argsort(found[0], kind="stable")
    return found[0][order], found[1][order]
