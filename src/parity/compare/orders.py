"""Integers and booleans that have no defined answer: places in an order of equal values, scores at a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from parity.arrays import Array
from parity.compare.errors import Floats

Mask = npt.NDArray[np.bool_]

MOVED_FLOORS = 20
"""Values that healthy arithmetic may swap are this many floors apart at most: a target passes with an error of ten
floors (the default of `limits.ratio`), and both values may have moved by as much."""


@dataclass(frozen=True)
class ValueOutput:
    """A float output that may hold the values to which an index output holds the places.

    Attributes:
        ours: What the reference returned.
        theirs: What the target returned, of the same shape.
        slack: The difference that arithmetic explains.
        first: The first axis that an order may run along: 1 where axis 0 counts samples.
    """

    ours: Array
    theirs: Array
    slack: float
    first: int = 0


@dataclass(frozen=True)
class Unequal:
    """Where target and reference differ, bool arrays of their shape; `undefined` has no answer that both must give."""

    mismatched: Mask
    tied: Mask
    undefined: Mask


def compare_orders(
    theirs: Array, ours: Array, variants: Sequence[Array] = (), values: Sequence[ValueOutput] = ()
) -> Unequal:
    """Which differences of two integer or boolean arrays are mismatches, and which are ties.

    A place has no defined answer, and differs by a tie, where

    - the reference itself answers otherwise under other rounding: in float64, or under a jitter of a few units
      in the last place. The target's answer has to lie in the range of what the reference gives anywhere.
    - a float output of the same shape holds the values (`topk`, `sort`, `max` with `dim`), the target has the same
      value there, and its indices within the run of equal values are the reference's in another order. The last
      run of a top-k may be cut off, so its indices may be others; where it is a run of one, that needs evidence: no
      variants that could have shown it, equal values elsewhere, or saturated ones (the zeros of ReLU).

    Args:
        theirs: What the target returned, integers or booleans.
        ours: What the reference returned, same shape.
        variants: What the reference returned under other rounding; those of another shape are passed over.
        values: Float outputs of the same call and shape.
    """
    wrong: Mask = np.asarray(theirs != ours)
    undefined = undefined_places(ours, variants)
    tied = wrong & undefined & _in_range(theirs, ours, variants)
    for value in values:
        if not wrong.any() or ours.dtype.kind not in "iu":
            break
        tied |= wrong & _same_runs(theirs, ours, value, certain=bool(variants))
    return Unequal(wrong & ~tied, tied, undefined)


def undefined_places(ours: Array, variants: Sequence[Array]) -> Mask:
    """Where the reference answers otherwise under other rounding; bool of its shape."""
    found: Mask = np.zeros(ours.shape, bool)
    for variant in variants:
        if variant.shape == ours.shape:
            found |= np.asarray(variant != ours)
    return found


def _in_range(theirs: Array, ours: Array, variants: Sequence[Array]) -> Mask:
    seen = [array for array in (ours, *variants) if array.size]
    if ours.dtype.kind == "b" or not seen:
        return np.ones(ours.shape, bool)
    low, high = min(int(array.min()) for array in seen), max(int(array.max()) for array in seen)
    return np.asarray((theirs >= low) & (theirs <= high))  # type: ignore[operator]  # the same


def _same_runs(theirs: Array, ours: Array, value: ValueOutput, *, certain: bool) -> Mask:
    """Where indices differ within one run of equal values, or where a run is cut off; bool of their shape."""
    sorted_axis = _sorted_axis(value)
    equal = _equal(value)
    saturated = _saturated(ours, value)
    if sorted_axis is None:
        return equal & saturated
    lines = [np.moveaxis(array, sorted_axis, -1) for array in (theirs, ours, value.ours)]
    # Where equal values stand side by side somewhere, jitter need not part them, and the cut may fall between two.
    equals = bool((np.diff(lines[2], axis=-1) == 0).any())
    alone: Mask = np.moveaxis(saturated, sorted_axis, -1) | (equals or not certain)
    runs = _runs(lines[2].astype(np.float64), value.slack)
    inside = _permuted(lines[0], lines[1], runs, alone=alone)
    return equal & np.moveaxis(inside, -1, sorted_axis)


def _equal(value: ValueOutput) -> Mask:
    with np.errstate(invalid="ignore"):
        apart = np.abs(value.theirs.astype(np.float64) - value.ours.astype(np.float64))
    return np.asarray((apart <= value.slack) | (value.theirs == value.ours))


def _sorted_axis(value: ValueOutput) -> int | None:
    """The longest axis along which the values are in order; None where there is none of two places at least."""
    wide = value.ours.astype(np.float64)
    found: list[int] = []
    for axis in range(value.first, wide.ndim):
        steps = np.diff(wide, axis=axis)
        if steps.size and ((steps <= value.slack).all() or (steps >= -value.slack).all()):
            found.append(axis)
    return max(found, key=lambda axis: (wide.shape[axis], axis), default=None)


def _runs(lines: Floats, slack: float) -> npt.NDArray[np.int64]:
    """The number of the run of equal values that each place along the last axis belongs to."""
    with np.errstate(invalid="ignore"):
        ends = np.abs(np.diff(lines, axis=-1)) > slack
    first = np.zeros((*lines.shape[:-1], 1), np.int64)
    return np.concatenate([first, np.cumsum(ends, axis=-1, dtype=np.int64)], axis=-1)


def _permuted(theirs: Array, ours: Array, runs: npt.NDArray[np.int64], *, alone: Mask) -> Mask:
    """Places of runs whose indices are the same set, or of a last run that may be cut off: one of one where `alone`."""
    length = runs.shape[-1]
    sorted_theirs, sorted_ours = (
        np.take_along_axis(array, np.lexsort((array, runs), axis=-1), axis=-1) for array in (theirs, ours)
    )
    line = np.arange(runs.size // length).reshape(*runs.shape[:-1], 1)
    number = runs + line * length
    differing = np.bincount(number.ravel(), (sorted_theirs != sorted_ours).ravel(), minlength=runs.size)
    same: Mask = np.asarray(differing[number] == 0)
    last = runs == runs[..., -1:]
    several = last.sum(axis=-1, keepdims=True) > 1
    cut: Mask = last & (several | alone) & _distinct(theirs)
    return same | cut


def _distinct(lines: Array) -> Mask:
    """Whether no index occurs twice in a line; bool[..., 1]."""
    ordered = np.sort(lines, axis=-1)
    return np.asarray((np.diff(ordered, axis=-1) != 0).all(axis=-1, keepdims=True))


def _saturated(ours: Array, value: ValueOutput) -> Mask:
    """Where the smallest of all values stands at several places with different indices, as zeros after ReLU.

    A maximum that is the smallest value there is was chosen among equals. Of another value that is repeated,
    such as a probability of exactly 1, nothing follows.
    """
    at_end: Mask = np.asarray(value.ours == np.min(value.ours)) if value.ours.size else np.zeros(ours.shape, bool)
    return at_end if len(np.unique(ours[at_end])) > 1 else np.zeros(ours.shape, bool)
