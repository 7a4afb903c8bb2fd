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


def copied(module: nn.Module) -> nn.Module | None:
    """A copy with weights of its own, or None where a module cannot be copied."""
    try:
        return copy.deepcopy(module)
    except Exception:  # noqa: BLE001  # a module may hold anything, and its copy is a help and no need
        return None
