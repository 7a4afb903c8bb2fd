"""A written source of samples is opened, whatever kind it is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from parity.errors import SampleError
from parity.models.refs import is_reference, resolve
from parity.models.wording import address_hint
from parity.samples.arranging import arrange, no_pictures
from parity.samples.files import open_arrays
from parity.samples.folders import open_folder
from parity.samples.images import open_images, preprocessing
from parity.samples.json_lines import open_lines
from parity.samples.kinds import IMAGE, LINES, NPY, NPZ, SAFETENSORS, file_kind
from parity.samples.rows import LABELS, Column, Columns, Key, Source
from parity.samples.tensors import load_tensors, open_safetensors

_UNNAMED = re.compile(r"arr_(\d+)")
"""What `np.savez` calls an array that was given without a name."""


def open_source(source: str, root: Path, inputs: int | None = None, preprocess: str | None = None) -> Source:
    """Open samples; no more than headers is read before the first one is asked for.

    Args:
        source: A file, a folder, or a reference to a function, a Dataset or another object that holds samples.
        root: What relative paths start from.
        inputs: How many inputs the model has, where that is known.
        preprocess: What makes a sample from a picture.

    Raises:
        SampleError: there is no such source, or it cannot be read.
        UsageError: the preprocessing is no reference.
    """
    path = root / source
    prepare = preprocessing(preprocess, root) if preprocess else None
    if is_reference(source) and not path.exists():
        return arrange(call(source, root, "samples"), source, inputs, prepare)
    address = None if path.exists() else address_hint(source)
    if address is not None:
        raise SampleError("samples are files, and this is an address", where=source, hint=address)
    if path.is_dir():
        return open_folder(path, prepare)
    kind = file_kind(path)
    if kind == IMAGE:
        return open_images([path], None, str(path), prepare)
    if prepare is not None:
        raise no_pictures(str(path))
    if kind in (NPY, NPZ):
        return Columns(str(path), _by_name(path, kind))
    if kind == SAFETENSORS:
        return open_safetensors(path)
    return open_lines(path) if kind == LINES else arrange(load_tensors(path), str(path), inputs)


def _by_name(path: Path, kind: str) -> dict[Key, Column]:
    found = open_arrays(path)
    if kind == NPY:
        return dict(enumerate(found.values()))
    unnamed = {name: _UNNAMED.fullmatch(name) for name in found if name not in LABELS}
    if found and all(unnamed.values()) and len(unnamed) == len(found):
        return {int(match[1]): found[name] for name, match in unnamed.items() if match}
    return {name: array for name, array in found.items()}  # noqa: C416  # a dictionary of another type


def call(source: str, root: Path, role: str) -> Any:
    """What a reference gives: what a function or a class returns, or the object that it names.

    Raises:
        SampleError: the function raises.
    """
    found = resolve(source, root, role)
    if not callable(found) or (hasattr(found, "__getitem__") and not isinstance(found, type)):
        return found
    try:
        return found()
    except SampleError:
        raise
    except Exception as error:
        raise SampleError(f"the {role} function raised {type(error).__name__}: {error}", where=source) from error
