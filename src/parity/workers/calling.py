"""One call of a module with arrays, and a copy that may be changed."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import nn

from parity.arrays import Array
from parity.compare.structure import to_arrays


def call_module(module: nn.Module, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Inputs in the order of `forward`, outputs by name."""
    with torch.inference_mode():
        return to_arrays(module(*(torch.from_numpy(array) for array in inputs.values())))


def call_converted(module: nn.Module, inputs: Mapping[str, Array], dtype: torch.dtype) -> dict[str, Array]:
    """The same with every float input rounded to `dtype`, which NumPy need not have."""
    tensors = (torch.from_numpy(array) for array in inputs.values())
    with torch.inference_mode():
        return to_arrays(module(*(each.to(dtype) if each.is_floating_point() else each for each in tensors)))


def copied(module: nn.Module) -> nn.Module | None:
    """A copy with weights of its own, or None where a module cannot be copied."""
    try:
        return copy.deepcopy(module)
    except Exception:  # noqa: BLE001  # a module may hold anything, and its copy is a help and no need
        return None
