"""Where samples come from: files, folders, Python; and what is said of them without a signature."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from parity.arrays import Array
from parity.errors import SampleError
from parity.models.signature import Signature
from parity.samples.fitting import Sample, fit, not_labels
from parity.samples.inferring import infer
from parity.samples.opening import open_source
from parity.samples.rows import LABELS, Columns, GatheredLabels, Key, Labels, Source, is_label, listed
from parity.samples.values import array_of

__all__ = ["Sample", "infer_inputs", "read_labels", "read_samples"]


def read_samples(
    source: str, signature: Signature, root: Path, preprocess: str | None = None
) -> tuple[Iterable[Sample], Labels | None]:
    """Open samples, and the labels that lie beside them if there are any.

    Args:
        source: A file (`.npz`, `.npy`, `.pt`, `.safetensors`, JSON lines), a folder of arrays or of images, or a
            reference to a function, a Dataset or another object that holds samples.
        signature: The inputs to look for.
        root: What relative paths start from.
        preprocess: What makes a sample from an image: `torchvision:WEIGHTS` or a reference.

    Returns:
        The samples, read one at a time as they are iterated, and labels: `int64[n]`, or `GatheredLabels` that are
        known when the samples are through, or None.

    Raises:
        SampleError: there is no such source, it cannot be read, or it has none of the inputs; iterating raises it
            for a sample that is damaged or does not fit.
    """
    return fit(open_source(source, root, len(signature.inputs), preprocess), signature)


def infer_inputs(
    source: str, root: Path, names: Sequence[str] | None = None, preprocess: str | None = None
) -> tuple[str, ...]:
    """The written inputs of a model, from the samples' own arrays, in one pass that holds one sample at a time.

    Args:
        source: As for `read_samples`.
        root: What relative paths start from.
        names: The parameters of `forward` in order. Arrays without names get them; of those with names, the ones
            that are parameters are taken. There may be more of them than arrays: they may have defaults.
        preprocess: As for `read_samples`.

    Returns:
        One written input each, such as `image: float32[N, 3, H in 20..64, 224]`: `N` is the batch, dimensions that
        differ between samples are symbols with the range that was seen, and integers have theirs.

    Raises:
        SampleError: the samples cannot be read, differ in dtype or rank, or do not match `names`.
    """
    # Of several parameters some may have defaults, so that only one tells how many inputs there are.
    count = 1 if names and len(names) == 1 else None
    return infer(open_source(source, root, count, preprocess), names or None)


def read_labels(source: str, root: Path) -> Array:
    """Labels from a file or a function.

    They are `int64[n]`, or `int64[n, ...]` with one for each pixel or token. Where a file has other arrays beside
    them, they are called `labels`, or another of `rows.LABELS`.

    Raises:
        SampleError: they cannot be read or are no integers.
    """
    try:
        opened = open_source(source, root)
    except SampleError as error:
        allowed = (
            f"labels are integers: .npy, .npz, .pt, one a line in a text file, or a function; {error.allowed or ''}"
        )
        raise SampleError(f"the labels cannot be read: {error.what}", where=error.where,
                          allowed=allowed.removesuffix("; "), got=error.got, hint=error.hint) from error  # fmt: skip
    found = _labels_of(opened, source)
    if found.dtype.kind not in "iub" or not found.ndim or not len(found):
        raise not_labels(found, source)
    return found.astype(np.int64)


def _labels_of(source: Source, where: str) -> Array:
    if isinstance(source, Columns):
        key = _label_key(list(source.arrays))
        if key is None:
            raise SampleError("no array among these is called labels", where=where, allowed=", ".join(LABELS),
                              got=listed(source.arrays))  # fmt: skip
        return source.arrays[key].whole()
    if source.labels is not None:
        return source.labels
    gathered = GatheredLabels(where)
    for row in source.items:
        key = _label_key(list(row.values))
        label = row.label if key is None else row.values[key]
        if not is_label(label):
            raise not_labels(array_of(label, row.place), row.place)
        gathered.add(label, row.place)
    found = gathered.whole()
    return np.zeros(0) if found is None else found


def _label_key(keys: Sequence[Key]) -> Key | None:
    named = next((each for each in LABELS if each in keys), None)
    return named if named is not None else keys[0] if len(keys) == 1 else None
