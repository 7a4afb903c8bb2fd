"""The signature that samples have, from their own arrays."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from parity.arrays import Array
from parity.errors import SampleError
from parity.models.signature import DTYPES
from parity.samples.parameters import matched
from parity.samples.roles import is_length
from parity.samples.rows import Source, listed
from parity.samples.values import array_of, is_plain

BATCH = "N"
"""The symbol of the leading dimension."""

_CHANNELS = (1, 3, 4)
_SYMBOLS = ("T", "S", "U", "V", "K", "L", "M", "P", "Q", "R")
_WRITTEN: Mapping[np.dtype[np.generic], str] = {np.dtype(text): name for name, text in DTYPES.items()}

Axis = tuple[str, int]


@dataclass
class _Seen:
    """What was seen of one input so far; `within` are the dimensions of others that no value of it ever exceeds."""

    dtype: str
    rank: int
    low: int | None = None
    high: int | None = None
    within: set[Axis] | None = None


@dataclass
class _Sizes:
    """The sizes of every dimension so far, and which of them were the same in every sample."""

    low: dict[Axis, int] = field(default_factory=dict)
    high: dict[Axis, int] = field(default_factory=dict)
    group: dict[Axis, int] = field(default_factory=dict)

    def add(self, sizes: Mapping[Axis, int]) -> None:
        """One more sample: dimensions of one group stay together where they agree in it."""
        numbers: dict[tuple[int, int], int] = {}
        for axis, size in sizes.items():
            self.low[axis] = min(self.low.get(axis, size), size)
            self.high[axis] = max(self.high.get(axis, size), size)
            self.group[axis] = numbers.setdefault((self.group.get(axis, 0), size), len(numbers))


def infer(source: Source, names: Sequence[str] | None) -> tuple[str, ...]:
    """The written inputs that samples have; see `sources.infer_inputs`.

    Raises:
        SampleError: there is no sample, they differ in dtype or rank, or do not match `names`.
    """
    seen: dict[str, _Seen] = {}
    sizes = _Sizes()
    place = source.where
    for values, where in matched(source, names):
        arrays = {name: _array(value, f"{where}, input {name!r}") for name, value in values.items()}
        plain = {name for name, value in values.items() if is_plain(value)}
        if seen and arrays.keys() != seen.keys():
            raise SampleError("the samples do not all have the same inputs", where=where, allowed=listed(seen),
                              got=listed(arrays))  # fmt: skip
        for name, array in arrays.items():
            _look(seen, name, array, f"{where}, input {name!r}", plain=name in plain)
        own = {(name, axis): size for name, array in arrays.items() for axis, size in enumerate(array.shape)}
        for name, array in arrays.items():
            if array.dtype.kind in "iu" and array.size and is_length(name):
                fits = {axis for axis, size in own.items() if axis[0] != name and int(array.max()) <= size}
                seen[name].within = fits if (known := seen[name].within) is None else fits & known
        sizes.add(own)
        place = where
    if not seen:
        raise SampleError("there is not one sample to infer the inputs from", where=place)
    symbols = _symbols(seen, sizes)
    return tuple(_written(name, each, symbols, sizes) for name, each in seen.items())


def _array(value: Any, where: str) -> Array:
    array = array_of(value, where)
    if is_plain(value):  # what has no dtype gets the usual one of torch
        array = array.astype({"f": np.float32, "c": np.complex64, "b": np.bool_}.get(array.dtype.kind, np.int64))
    if array.dtype not in _WRITTEN:
        raise SampleError("no input can have this dtype", where=where, allowed=", ".join(DTYPES), got=str(array.dtype))
    return array


def _look(seen: dict[str, _Seen], name: str, array: Array, where: str, *, plain: bool) -> None:
    dtype = _WRITTEN[array.dtype]
    known = seen.setdefault(name, _Seen(dtype, array.ndim))
    if plain and {known.dtype, dtype} == {"int64", "float32"} and known.rank == array.ndim:
        known.dtype = dtype = "float32"  # a list of numbers may happen to be whole
    if (known.dtype, known.rank) != (dtype, array.ndim):
        raise SampleError(
            "the samples differ in dtype or rank", where=where, allowed=f"{known.dtype} with {known.rank} dimensions",
            got=f"{dtype}{list(array.shape)}",
        )  # fmt: skip
    if array.dtype.kind in "iu" and array.size:
        low, high = int(array.min()), int(array.max())
        known.low = low if known.low is None else min(known.low, low)
        known.high = high if known.high is None else max(known.high, high)


def _symbols(seen: Mapping[str, _Seen], sizes: _Sizes) -> dict[int, str]:
    """A symbol for each group of dimensions that differ between samples."""
    symbols: dict[int, str] = {}
    free = itertools.chain(_SYMBOLS, (f"D{number}" for number in itertools.count()))
    taken = {BATCH}
    for name, each in seen.items():
        for axis in range(each.rank):
            if sizes.low[name, axis] == sizes.high[name, axis] or sizes.group[name, axis] in symbols:
                continue
            wanted = _image_symbol(name, axis, each.rank, sizes)
            symbol = wanted if wanted and wanted not in taken else next(each for each in free if each not in taken)
            taken.add(symbol)
            symbols[sizes.group[name, axis]] = symbol
    return symbols


def _image_symbol(name: str, axis: int, rank: int, sizes: _Sizes) -> str | None:
    """`H` or `W` where the dimensions are those of an image with few channels, first or last."""
    if rank < 3:  # noqa: PLR2004  # channels, height and width
        return None
    fixed = {place: sizes.low[name, place] for place in (rank - 3, rank - 1)
             if sizes.low[name, place] == sizes.high[name, place]}  # fmt: skip
    if fixed.get(rank - 3) in _CHANNELS:
        return {rank - 2: "H", rank - 1: "W"}.get(axis)
    return {rank - 3: "H", rank - 2: "W"}.get(axis) if fixed.get(rank - 1) in _CHANNELS else None


def _written(name: str, seen: _Seen, symbols: Mapping[int, str], sizes: _Sizes) -> str:
    dims = [BATCH]
    for axis in range(seen.rank):
        low, high = sizes.low[name, axis], sizes.high[name, axis]
        dims.append(str(low) if low == high else f"{symbols[sizes.group[name, axis]]} in {low}..{high}")
    longest = next((axis for axis in sizes.group if axis in (seen.within or ()) and sizes.group[axis] in symbols), None)
    if longest is not None:
        return f"{name}: {seen.dtype}[{', '.join(dims)}] in {min(seen.low or 0, 1)}..{symbols[sizes.group[longest]]}"
    counted = seen.low is not None and seen.dtype != "float32"
    if "mask" in name.lower() and counted and {seen.low, seen.high} <= {0, 1}:
        seen = replace(seen, low=0, high=1)  # samples that fill all of their places do not mean that others do
    return f"{name}: {seen.dtype}[{', '.join(dims)}]" + (f" in {seen.low}..{seen.high}" if counted else "")
