"""A session over anything that is called like an `nn.Module`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from parity.arrays import Array
from parity.compare.structure import named_again, to_arrays


class ModuleSession:
    """Calls a module with tensors in the order of `names`, in inference mode, on a device.

    `outputs` are the model's names, for an artifact that has lost them.

    Times of a call on a GPU include the copies there and back, and so the wait for the result.
    """

    def __init__(
        self,
        module: Callable[..., Any],
        names: tuple[str, ...],
        device: str,
        facts: Mapping[str, str] | None = None,
        outputs: tuple[str, ...] = (),
    ) -> None:
        self._module = module
        self._names = names
        self._device = device
        self._outputs = outputs
        self.facts = {"device": device, **(facts or {})}

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One call; outputs are copied out of torch's memory only where NumPy cannot view it."""
        with torch.inference_mode():
            tensors = (torch.from_numpy(inputs[name]).to(self._device) for name in self._names)
            return named_again(to_arrays(self._module(*tensors)), self._outputs)
