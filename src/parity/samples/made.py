"""Samples of other sizes, made from held-out ones: cropped or repeated along a dimension, so real content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from parity.arrays import Array
from parity.models.signature import InputSpec, Signature
from parity.samples.fitting import Sample
from parity.samples.roles import Role, role_of

Group = tuple[Mapping[str, int], Sequence[int]]
"""The sizes that samples share, and their indices."""

_RUNS = (Role.MASK, Role.PADDING, Role.SEGMENTS)
"""What is set in runs: cropped or repeated it would no longer say how long its sequence is."""

_STRIDE = 7919
"""A prime number of samples between two turns."""


def symbol_sizes(signature: Signature, sample: Sample) -> dict[str, int]:
    """The size of every symbol but the batch in one sample."""
    skipped = 0 if signature.batch is None else 1
    return {
        dim.symbol: size
        for spec in signature.inputs
        for dim, size in zip(spec.dims[skipped:], np.shape(sample[spec.name]), strict=True)
        if dim.symbol is not None
    }


def nearest(known: Sequence[Group], sizes: Mapping[str, int], count: int, turn: int) -> list[int]:
    """Indices of `count` samples from the groups that are nearest in size; within a group others at every `turn`.

    Where there are fewer samples than that, they are repeated.
    """
    found: list[int] = []
    for _, members in sorted(known, key=lambda group: _distance(group[0], sizes)):
        start = turn * _STRIDE % len(members)
        found += [members[(start + place) % len(members)] for place in range(min(count - len(found), len(members)))]
    return [found[place % len(found)] for place in range(count)]


def _distance(own: Mapping[str, int], sizes: Mapping[str, int]) -> int:
    return sum(abs(own[name] - size) for name, size in sizes.items())


def make_sample(sample: Sample, signature: Signature, sizes: Mapping[str, int]) -> dict[str, Array]:
    """A copy of a sample in which every symbol in `sizes` has that size.

    Integers stay within their range. Where its upper bound is a symbol they grow and shrink with it: the length of a
    sequence that is repeated is longer, and so is what a mask says of it. What is empty has nothing to repeat, and
    gets zeros.
    """
    before = symbol_sizes(signature, sample)
    skipped = 0 if signature.batch is None else 1
    made: dict[str, Array] = {}
    for spec in signature.inputs:
        array = np.asarray(sample[spec.name])
        dims = spec.dims[skipped:]
        role = role_of(spec, dims)
        for axis, dim in enumerate(dims):
            size = sizes.get(dim.symbol or "", array.shape[axis])
            if role in _RUNS:
                array = stretched(array, axis, size, inverted=role is Role.PADDING)
            else:
                array = resized(array, axis, size)
        made[spec.name] = np.array(_in_range(array, spec, before, sizes))
    return made


def resized(array: Array, axis: int, size: int) -> Array:
    """An array that is cropped or repeated along an axis; zeros where there is nothing to repeat."""
    if size == array.shape[axis]:
        return array
    if not array.shape[axis]:
        return np.zeros((*array.shape[:axis], size, *array.shape[axis + 1 :]), array.dtype)
    resized: Array = np.take(array, np.arange(size) % array.shape[axis], axis=axis)
    return resized


def stretched(array: Array, axis: int, size: int, *, inverted: bool) -> Array:
    """A mask of another size: as large a part of it is set, in one run where it was one, and at least one place.

    So is the length beside it: n of T places become the next whole number above n / T of the new size. An `inverted`
    mask is set where there is nothing.
    """
    before = array.shape[axis]
    if not before or size == before:
        return resized(array, axis, size)
    first, last = (np.count_nonzero(np.take(array, place, axis)) for place in (0, -1))
    places = np.arange(size) * before // size
    if (first > last) if inverted else (last > first):
        places = before - 1 - places[::-1]  # filled from its end
    made: Array = np.take(array, places, axis=axis)
    return made


def _in_range(array: Array, spec: InputSpec, before: Mapping[str, int], sizes: Mapping[str, int]) -> Array:
    if array.dtype.kind not in "iu" or (spec.low is None and spec.high is None):
        return array
    low, high = (_bound(bound, {**before, **sizes}) for bound in (spec.low, spec.high))
    values = array.astype(np.int64)
    if spec.high is not None and spec.high in sizes and before.get(spec.high):
        values = -(-values * sizes[spec.high] // before[spec.high])
    inside: Array = np.clip(values, low, high).astype(array.dtype)
    return inside


def _bound(bound: str | None, sizes: Mapping[str, int]) -> int | None:
    if bound is None:
        return None
    return sizes[bound] if bound in sizes else int(float(bound))
