"""Sets in one order: rows of every set stand where their counterparts do, and everything else can compare by index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np

from parity.arrays import Array, ArrayReader
from parity.compare.matching import MOVED, Detections, Ints, comparable, detections, match_near, match_sets
from parity.compare.sets import SetGroup

Variants = Callable[[SetGroup, str], Sequence[Sequence[Detections]]]
"""The sets of one group in one call as the reference has them under other rounding: variant by variant, sample by
sample."""


def aligned(
    arrays: ArrayReader,
    to: ArrayReader,
    fill: ArrayReader,
    groups: Sequence[SetGroup],
    variants: Variants | None = None,
) -> ArrayReader:
    """The same arrays, with the rows of every set in the order of those in `to`.

    A row of `to` that has no counterpart is filled with the row that `fill` has there, so that shapes agree
    and what is there on both sides is compared; what is missing has to be counted apart. A set of another
    structure (a member missing, another rank) is left as it is.

    Args:
        arrays: Eager's, or a target's.
        to: The oracle's.
        fill: In the order of `to`: the oracle's for eager, eager's for a target.
        groups: Which outputs are sets.
        variants: With them, boxes that have moved are paired as well; without, only those that are the same.
    """
    views: dict[str, Callable[[], Array]] = {}
    for call in arrays.prefixes() if groups else ():
        for group in groups:
            if comparable(group, arrays, to, call):
                places = cache(partial(_places, group, arrays, to, call, variants))
                for name in group.members:
                    key = f"{call}/{name}"
                    views[key] = partial(_ordered, group, arrays, fill, key, places)
    return arrays.viewed(views) if views else arrays


def _places(group: SetGroup, arrays: ArrayReader, to: ArrayReader, call: str, variants: Variants | None) -> list[Ints]:
    """For each sample: where the counterpart of each row of `to` stands, or -1."""
    found = []
    others = variants(group, call) if variants else []
    for at, (wanted, have) in enumerate(zip(detections(group, to, call), detections(group, arrays, call), strict=True)):
        places = np.full(len(wanted), -1, np.int64)
        if variants is None:
            rows, columns = match_near(wanted, have, group.near)
        else:
            seen = [sets[at] for sets in others if at < len(sets)]
            matched = match_sets(wanted, have, seen, near=group.near, least=MOVED)
            rows, columns = matched.rows, matched.columns
        places[rows] = columns
        found.append(places)
    return found


def _ordered(
    group: SetGroup, arrays: ArrayReader, fill: ArrayReader, key: str, places: Callable[[], list[Ints]]
) -> Array:
    array, filling = arrays.get(key), fill.get(key)
    made: Array = np.array(filling, dtype=array.dtype)
    for sample, rows in enumerate(places()):
        there = rows >= 0
        if group.flat:
            made[there] = array[rows[there]]
        else:
            made[sample][there] = array[sample][rows[there]]
    return made
