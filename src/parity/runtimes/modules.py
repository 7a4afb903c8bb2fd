"""A session over anything that is called like an `nn.Module`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from parity.arrays import Array
from parity.compare.structure import to_arrays


class ModuleSession:
    """Calls a module with tensors in the order of `names`, in inference mode."""

    def __init__(self, module: Callable[..., Any], names: tuple[str, ...], facts: Mapping[str, str]) -> None:
        self._module = module
        self._names = names
        self.facts = dict(facts)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One call; outputs are copied out of torch's memory only where NumPy cannot view it."""
        with torch.inference_mode():
            return to_arrays(self._module(*(torch.from_numpy(inputs[name]) for name in self._names)))
