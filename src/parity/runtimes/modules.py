"""A session over anything that is called like an `nn.Module`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from parity.arrays import Array
from parity.compare.structure import named_again, to_arrays
from parity.runtimes.calls import Call


class ModuleSession:
    """Calls a module with tensors in inference mode, on a device.

    `call` says how it takes its inputs; `outputs` are the model's names, for an artifact that has lost them.

    Times of a call on a GPU include the copies there and back, and so the wait for the result.
    """

    def __init__(
        self,
        module: Callable[..., Any],
        call: Call,
        device: str,
        facts: Mapping[str, str] | None = None,
        outputs: tuple[str, ...] = (),
    ) -> None:
        self._module = module
        self._call = call
        self._device = device
        self._outputs = outputs
        self.facts = {"device": device, **(facts or {}), **self._call.facts}
        self.doubts = self._call.doubts

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One call; outputs are copied out of torch's memory only where NumPy cannot view it."""
        with torch.inference_mode():
            tensors = {name: torch.from_numpy(inputs[name]).to(self._device) for name in self._call.names}
            args, kwargs = self._call.arguments(tensors)
            return named_again(to_arrays(self._module(*args, **kwargs)), self._outputs)
