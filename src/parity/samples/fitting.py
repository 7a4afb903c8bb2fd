"""Samples as they were read are held against a signature: which value is which input, and whether its dtype fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from parity.arrays import Array
from parity.errors import SampleError
from parity.models.signature import DTYPES, InputSpec, Signature
from parity.samples.rows import Chosen, Columns, GatheredLabels, Key, Labels, Row, Rows, Source, choose, is_label
from parity.samples.values import array_of, is_plain

Sample = Mapping[str, Array]

_MUST_BE_LABELS = ("labels", "label")
"""Arrays of these names are labels or a mistake; `y` and `target` may as well be numbers to regress on."""


def fit(source: Source, signature: Signature) -> tuple[Iterable[Sample], Labels | None]:
    """The samples by input, each checked when it is asked for, and the labels that lie beside them.

    A dtype is never changed: numbers that were rounded on the way would be another sample than the one that the
    model was evaluated on. Numbers that have none (Python's, JSON's) get that of the input.

    Raises:
        SampleError: an input is missing, or what is called labels is none. Iterating raises it for a sample that
            does not fit.
    """
    if isinstance(source, Columns):
        return _fit_columns(source, signature)
    labels = GatheredLabels(source.where)
    return _fit_rows(source, signature, labels), source.labels if source.labels is not None else labels


def _fit_columns(source: Columns, signature: Signature) -> tuple[Iterable[Sample], Labels | None]:
    chosen = choose(source.arrays, signature.names, source.where)
    return _stacked(source, chosen, signature), column_labels(source, chosen.label)


def column_labels(source: Columns, key: Key | None) -> Array | None:
    """The stacked labels, or None where these numbers are none.

    Raises:
        SampleError: they are called labels and are no integers.
    """
    if key is None:
        return None
    labels = source.arrays[key].whole()
    if labels.ndim and (is_label(labels) or not labels.size):
        return labels.astype(np.int64)
    if key in _MUST_BE_LABELS:
        raise not_labels(labels, f"{source.where}, {key!r}")
    return None


def not_labels(labels: Array, where: str) -> SampleError:
    """What to say of labels that are no integers."""
    scores = labels.dtype.kind == "f" and labels.ndim > 1
    return SampleError(
        "the labels are not a list of integers", where=where, allowed="int64[n] or int64[n, ...]",
        got=f"{labels.dtype.name}{list(labels.shape)}",
        hint="one-hot labels: labels.argmax(-1)" if scores else "labels.astype('int64'), or another name for the array",
    )  # fmt: skip


def _stacked(source: Columns, chosen: Chosen, signature: Signature) -> Iterator[Sample]:
    columns = {name: source.arrays[key] for name, key in chosen.inputs.items()}
    counts = {name: (column.shape[0] if column.shape else 0) for name, column in columns.items()}
    if len(set(counts.values())) > 1:
        raise SampleError("the inputs do not have equally many samples", where=source.where, got=str(counts))
    if not any(counts.values()):
        return
    for index, values in enumerate(zip(*columns.values(), strict=True)):
        place = f"{source.where}, sample {index}"
        yield _checked(dict(zip(columns, values, strict=True)), signature, place)


def _fit_rows(source: Rows, signature: Signature, labels: GatheredLabels) -> Iterator[Sample]:
    for row in source.items:
        chosen = choose(row.values, signature.names, row.place)
        yield _checked({name: row.values[key] for name, key in chosen.inputs.items()}, signature, row.place)
        labels.add(label_of(row, chosen), row.place)


def label_of(row: Row, chosen: Chosen) -> Any:
    """The label of a sample, or None."""
    return row.label if chosen.label is None else row.values[chosen.label]


def _checked(values: Mapping[str, Any], signature: Signature, place: str) -> Sample:
    sample: dict[str, Array] = {}
    for spec in signature.inputs:
        where = f"{place}, input {spec.name!r}"
        array = array_of(values[spec.name], where)
        sample[spec.name] = _typed(array, spec) if is_plain(values[spec.name]) else array
    try:
        signature.check(sample, place)
    except SampleError as error:
        hint = next(
            filter(None, (_advice(sample[spec.name], spec, signature) for spec in signature.inputs)), error.hint
        )
        raise SampleError(error.what, where=error.where, allowed=error.allowed, got=error.got, hint=hint) from error
    return sample


def _typed(array: Array, spec: InputSpec) -> Array:
    """Plain numbers in the dtype of their input, where that holds them: real ones are rounded, whole ones never."""
    kind = np.dtype(DTYPES[spec.dtype])
    made = array.astype(kind) if array.dtype.kind != "c" or kind.kind == "c" else array
    if not array.size or kind.kind in "fc":
        return made
    return made if array.dtype.kind in "biu" and np.array_equal(made, array) else array


def _advice(array: Array, spec: InputSpec, signature: Signature) -> str | None:
    """What to do about an array that does not fit its input, or None where it does."""
    kind = np.dtype(DTYPES[spec.dtype])
    dims = spec.dims[1:] if signature.batch else spec.dims
    if array.dtype == kind:
        if signature.batch and array.ndim == len(dims) + 1:
            return "a sample has no batch axis: in a folder, a list or a function each one comes alone"
        return None
    if array.dtype == np.uint8 and kind.kind == "f":
        return (
            "these look like raw pixels: give the folder of images with --preprocess torchvision:WEIGHTS or "
            "package.module:function, or save what the model's own preprocessing makes of them"
        )
    written = f"{spec.name}: {array.dtype.name}[{', '.join(map(str, spec.dims))}]"
    return f"save them as the model takes them, array.astype('{spec.dtype}'), or write --input '{written}'"
