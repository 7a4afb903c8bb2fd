"""Samples in a folder: one array file each, one picture each, or one subfolder an input."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from parity.arrays import Array
from parity.errors import SampleError
from parity.samples import images
from parity.samples.arranging import Prepare, no_pictures, row_of
from parity.samples.files import open_arrays
from parity.samples.fitting import not_labels
from parity.samples.kinds import NPY, NPZ, SAFETENSORS, TENSORS, file_kind
from parity.samples.rows import LABELS, Key, Row, Rows, is_label
from parity.samples.tensors import load_tensors, open_safetensors
from parity.samples.values import array_of

ARRAYS = (".npy", ".npz", ".pt", ".pth", ".safetensors")
"""Files that are taken for arrays in a folder."""

_ALLOWED = (
    f"one sample a file ({', '.join(ARRAYS)}), a subfolder for each input, or pictures ({', '.join(images.SUFFIXES)}), "
    "with a subfolder for each class if they have labels"
)


def natural(name: str) -> list[tuple[int, int, str]]:
    """What sorts `2.npy` before `10.npy`."""
    parts = re.split(r"(\d+)", name)
    return [(0, int(part), part) if part.isdecimal() else (1, 0, part) for part in parts if part]


def open_folder(folder: Path, prepare: Prepare | None) -> Rows:
    """The samples of a folder in natural order, each file opened when its sample is asked for.

    Raises:
        SampleError: there is none, or they are of two kinds.
    """
    entries = sorted(
        (each for each in folder.iterdir() if each.name[0] not in "._"), key=lambda each: natural(each.name)
    )
    subfolders = [each for each in entries if each.is_dir()]
    files = [each for each in entries if each.is_file()]
    arrays = [each for each in files if each.suffix.lower() in ARRAYS]
    pictures = [each for each in files if each.suffix.lower() in images.SUFFIXES]
    labels = _labels(arrays)
    arrays = [each for each in arrays if each.stem not in LABELS]
    inside = {each: _files(each, ARRAYS) for each in subfolders}
    if arrays and pictures:
        raise SampleError("the folder has arrays and pictures, and a sample is one file", where=str(folder),
                          allowed=_ALLOWED, got=f"{len(arrays)} arrays, {len(pictures)} pictures")  # fmt: skip
    if prepare is not None and (arrays or any(inside.values())):
        raise no_pictures(str(folder))
    if arrays:
        return Rows(str(folder), (Row(_values(path), str(path)) for path in arrays), labels)
    if any(inside.values()):
        return Rows(str(folder), _side_by_side({each.name: found for each, found in inside.items() if found}, folder),
                    labels)  # fmt: skip
    if pictures:
        return images.open_images(pictures, labels, str(folder), prepare)
    classes = {
        each: _files(each, images.SUFFIXES, below=True) for each in sorted(subfolders, key=lambda each: each.name)
    }
    if any(classes.values()):
        numbered = [(path, number) for number, found in enumerate(classes.values()) for path in found]
        return images.open_images(
            [path for path, _ in numbered],
            np.asarray([number for _, number in numbered], np.int64),
            str(folder),
            prepare,
        )
    kinds = Counter(each.suffix or each.name for each in entries).most_common(5)
    raise SampleError(
        "there is no sample in this folder", where=str(folder), allowed=_ALLOWED,
        got=", ".join(f"{count} {kind}" for kind, count in kinds) or "an empty folder",
    )  # fmt: skip


def _files(folder: Path, suffixes: Sequence[str], *, below: bool = False) -> list[Path]:
    found = folder.rglob("*") if below else folder.iterdir()
    chosen = [each for each in found if each.suffix.lower() in suffixes and each.name[0] not in "._" and each.is_file()]
    return sorted(chosen, key=lambda each: natural(str(each.relative_to(folder))))


def _labels(arrays: Sequence[Path]) -> Array | None:
    """The labels of all samples, where one file has that name."""
    found = next((each for each in arrays if each.stem in LABELS), None)
    if found is None:
        return None
    labels = array_of(_alone(found), str(found))
    if not is_label(labels) or not labels.ndim:
        raise not_labels(labels, str(found))
    return labels.astype(np.int64)


def _values(path: Path) -> Mapping[Key, Any]:
    """The arrays of one sample."""
    kind = file_kind(path)
    if kind in (NPY, NPZ):
        arrays = open_arrays(path)
        return {0 if kind == NPY else name: array.whole() for name, array in arrays.items()}
    if kind == SAFETENSORS:
        return {name: array.whole() for name, array in open_safetensors(path).arrays.items()}
    if kind == TENSORS:
        return row_of(load_tensors(path), str(path)).values
    raise SampleError("this file holds no arrays", where=str(path), allowed=", ".join(ARRAYS), got=kind)


def _side_by_side(inputs: Mapping[str, Sequence[Path]], folder: Path) -> Iterator[Row]:
    """One file of each subfolder makes a sample: those of the same name.

    Raises:
        SampleError: a subfolder has a file that another one lacks.
    """
    stems = {name: [path.stem for path in files] for name, files in inputs.items()}
    first, *others = stems
    for other in others:
        alone = sorted(set(stems[first]) ^ set(stems[other]), key=natural)
        if alone:
            holder, lacking = (first, other) if alone[0] in stems[first] else (other, first)
            raise SampleError(
                f"{holder}/ has a sample {alone[0]!r} that {lacking}/ lacks", where=str(folder),
                allowed="a subfolder for each input, with files of the same names",
                got=", ".join(f"{len(found)} in {name}/" for name, found in stems.items()),
            )  # fmt: skip
    for paths in zip(*inputs.values(), strict=True):
        values: dict[Key, Any] = {name: _alone(path) for name, path in zip(inputs, paths, strict=True)}
        yield Row(values, str(folder / f"*/{paths[0].stem}"))


def _alone(path: Path) -> Any:
    values = _values(path)
    if len(values) != 1:
        raise SampleError("labels, and a file in the subfolder of an input, are one array", where=str(path),
                          got=f"{len(values)} arrays")  # fmt: skip
    return next(iter(values.values()))
