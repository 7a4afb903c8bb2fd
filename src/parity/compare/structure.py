"""Outputs of any structure as named arrays: matched by path, not by position."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from parity.arrays import Array

SINGLE = "output"
"""What the only output of a module is called when nothing names it."""


def flatten(value: Any) -> dict[str, Any]:
    """Leaves by path: dictionary keys, dataclass fields and positions, joined by dots; `None` is left out.

    Outputs of a plain tuple are `output_0`, `output_1`, …: ONNX refuses a name that is a number.
    """
    return dict(_leaves(value, ""))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
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
        yield path or SINGLE, value
        return
    for name, child in children:
        yield from _leaves(child, f"{path}.{name}" if path else name)


def to_arrays(value: Any) -> dict[str, Array]:
    """Named NumPy arrays of what a module returned; tensors are detached, bfloat16 becomes float32."""
    return {name: _array(leaf) for name, leaf in flatten(value).items()}


def _array(leaf: Any) -> Array:
    if hasattr(leaf, "detach"):
        leaf = leaf.detach().cpu()
        if str(leaf.dtype) == "torch.bfloat16":
            leaf = leaf.float()
        return np.asarray(leaf.resolve_conj().resolve_neg().numpy())
    return np.asarray(leaf)
