"""Outputs of any structure as named arrays: matched by path, not by position."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from parity.arrays import BFLOAT16, Array
from parity.errors import ModelError

SINGLE = "output"
"""What the only output of a module is called when nothing names it."""

_POSITION = re.compile(rf"(?:{SINGLE}(?:_\d+)?|\d+)(?:\.\d+)*")
"""A path of positions alone, which is what a structure without names has."""

Path = tuple[str, ...]


def flatten(value: Any) -> dict[str, Any]:
    """Leaves by path: dictionary keys, dataclass fields and positions, joined by dots; `None` is left out.

    Outputs of a plain tuple are `output_0`, `output_1`, …: ONNX refuses a name that is a number. Where two
    paths read the same, as `{"a.b": …, "a": {"b": …}}` has them, the keys with dots in them are quoted.

    Raises:
        ModelError: two outputs have one path, as `{1: …, "1": …}` has them.
    """
    leaves = list(_leaves(value, ()))
    joined = Counter(".".join(path) for path, _ in leaves)
    found: dict[str, Any] = {}
    for path, leaf in leaves:
        name = ".".join(path)
        if joined[name] > 1:
            name = ".".join(repr(part) if "." in part else part for part in path)
        if name in found:
            raise ModelError("the model returns two outputs under one name", got=name)
        found[name or SINGLE] = leaf
    return found


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if value is None:
        return
    children: Iterable[tuple[str, Any]]
    if isinstance(value, Mapping):
        children = ((str(key), each) for key, each in value.items())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        children = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    elif isinstance(value, (tuple, list)):
        positions = [str(place) if path else f"{SINGLE}_{place}" for place in range(len(value))]
        names = getattr(value, "_fields", positions)
        children = zip(names, value, strict=True)
    else:
        yield path, value
        return
    for name, child in children:
        yield from _leaves(child, (*path, name))


def to_arrays(value: Any) -> dict[str, Array]:
    """Named NumPy arrays of what a module returned; tensors are detached, bfloat16 is held as `BFLOAT16`."""
    return {name: _array(leaf) for name, leaf in flatten(value).items()}


def _array(leaf: Any) -> Array:
    if hasattr(leaf, "detach"):
        leaf = leaf.detach().cpu()
        if str(leaf.dtype) == "torch.bfloat16":
            return np.asarray(leaf.float().numpy()).view(BFLOAT16)
        return np.asarray(leaf.resolve_conj().resolve_neg().numpy())
    return np.asarray(leaf)


def named_again(arrays: Mapping[str, Array], names: Sequence[str]) -> dict[str, Array]:
    """The arrays under the model's names, where the artifact has lost them and returns as many by position.

    Tracing makes a plain tuple of a named one. Names that the artifact has are never overruled, and positions
    of a model that has no names either are names like any other.
    """
    lost = all(_POSITION.fullmatch(name) for name in arrays)
    had = not all(_POSITION.fullmatch(name) for name in names)
    if not lost or not had or len(arrays) != len(names):
        return dict(arrays)
    return dict(zip(names, arrays.values(), strict=True))
