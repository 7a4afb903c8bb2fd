"""Where samples come from: `.npz`, `.npy`, a Python function, or a seeded generator of last resort."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from parity.arrays import Array
from parity.errors import SampleError, did_you_mean
from parity.models.refs import is_reference, resolve
from parity.models.signature import DTYPES, Signature
from parity.samples.files import StackedArray, open_arrays

Sample = Mapping[str, Array]

SYNTHETIC_COUNT = 64
_SYNTHETIC_SPAN = 16
_LABELS = "labels"


def read_samples(source: str, signature: Signature, root: Path) -> tuple[Iterable[Sample], Array | None]:
    """Open samples, and the labels that lie beside them in the same file if there are any.

    Args:
        source: A `.npz` with one stacked array per input, a `.npy` for a single input, or a reference
            to a function that returns either of the two forms of `@parity.register`.
        signature: The inputs to look for.
        root: What relative paths start from.

    Raises:
        SampleError: there is no such file, it cannot be read, or it has none of the inputs.
    """
    if is_reference(source) and not (root / source).exists():
        return _from_function(source, signature, root), None
    path = root / source
    arrays = _named_after_inputs(open_arrays(path), signature, path)
    labels = arrays.pop(_LABELS, None) if _LABELS not in signature.names else None
    return _unstack(arrays, signature, str(path)), None if labels is None else labels.whole()


def read_labels(source: str, root: Path) -> Array:
    """Labels from a `.npy`, from `labels` in a `.npz`, or from a function.

    They are `int64[n]`, or `int64[n, ...]` with one for each pixel or token.

    Raises:
        SampleError: they cannot be read or are no integers.
    """
    if is_reference(source) and not (root / source).exists():
        labels = np.asarray(_call(source, root, "labels"))
    else:
        arrays = open_arrays(root / source)
        chosen = arrays.get(_LABELS, next(iter(arrays.values())) if len(arrays) == 1 else None)
        labels = np.zeros(0) if chosen is None else np.asarray(chosen.whole())
    if labels.dtype.kind not in "iu" or not labels.ndim or not len(labels):
        got = f"{labels.dtype.name}{list(labels.shape)}"
        raise SampleError(
            "the labels are not a list of integers", where=source, allowed="int64[n] or int64[n, ...]", got=got
        )
    return labels.astype(np.int64)


def synthetic_samples(signature: Signature, seed: int = 0) -> Iterator[Sample]:
    """Seeded random samples that fit the signature: weak evidence, for want of anything better.

    Floats are standard normal; integers are uniform within their range; every symbolic dimension other
    than the batch takes a few sizes between its bounds.
    """
    rng = np.random.default_rng(seed)
    free = {name: dim for name, dim in signature.symbols.items() if name != signature.batch}
    for index in range(SYNTHETIC_COUNT):
        sizes = {
            name: _size(dim.low, dim.high or dim.low + _SYNTHETIC_SPAN, dim.step, index) for name, dim in free.items()
        }
        sample: dict[str, Array] = {}
        for spec in signature.inputs:
            dims = spec.dims[1:] if signature.batch else spec.dims
            shape = tuple(sizes[dim.symbol] if dim.symbol else dim.size or 0 for dim in dims)
            low, high = (_bound(bound, sizes, default) for bound, default in ((spec.low, 0), (spec.high, 1)))
            sample[spec.name] = _draw(rng, spec.dtype, shape, low, high)
        yield sample


def _size(low: int, high: int, step: int, index: int) -> int:
    spread = np.linspace(low, high, 5)[index % 5]
    return max(step * int(spread // step), -(-low // step) * step)


def _bound(bound: str | None, sizes: Mapping[str, int], default: int) -> float:
    if bound is None:
        return default
    return sizes[bound] if bound in sizes else float(bound)


def _draw(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], low: float, high: float) -> Array:
    kind = np.dtype(DTYPES[dtype])
    if kind.kind in "iub":
        return rng.integers(int(low), int(high) + 1, shape).astype(kind)
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if kind.kind == "c" else values).astype(kind)


def _from_function(source: str, signature: Signature, root: Path) -> Iterable[Sample]:
    made = _call(source, root, "samples")
    if isinstance(made, Mapping):
        return _unstack({name: np.asarray(array) for name, array in made.items()}, signature, source)
    return ({name: np.asarray(array) for name, array in sample.items()} for sample in made)


def _call(source: str, root: Path, role: str) -> Any:
    function = resolve(source, root, role)
    try:
        return function()
    except Exception as error:
        raise SampleError(f"the {role} function raised {type(error).__name__}: {error}", where=source) from error


def _named_after_inputs(found: Mapping[str, StackedArray], signature: Signature, path: Path) -> dict[str, StackedArray]:
    """Arrays by input; where there is one of each, their names need not agree."""
    arrays = dict(found)
    inputs = [name for name in arrays if name != _LABELS]
    if len(signature.inputs) == 1 and len(inputs) == 1:
        arrays[signature.names[0]] = arrays.pop(inputs[0])
    missing = [name for name in signature.names if name not in arrays]
    if missing:
        raise SampleError(
            f"the file has no input {missing[0]!r}",
            where=str(path), allowed=", ".join(signature.names), got=", ".join(arrays) or "nothing",
            hint=did_you_mean(missing[0], arrays),
        )  # fmt: skip
    return arrays


def _unstack(arrays: Mapping[str, StackedArray | Array], signature: Signature, where: str) -> Iterator[Sample]:
    chosen = {name: arrays[name] for name in signature.names if name in arrays}
    counts = {name: (len(array) if array.shape else 0) for name, array in chosen.items()}
    if len(set(counts.values())) > 1:
        raise SampleError("the inputs do not have equally many samples", where=where, got=str(counts))
    if not any(counts.values()):
        return
    for rows in zip(*chosen.values(), strict=True):
        yield dict(zip(chosen, rows, strict=True))
