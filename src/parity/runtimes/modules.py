"""A session over anything that is called like an `nn.Module`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from parity.arrays import Array, dtype_name
from parity.compare.structure import named_again, to_arrays
from parity.models.matching import match_ports
from parity.models.ports import Port
from parity.runtimes.calls import Call
from parity.runtimes.inputs import output_doubts


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
        self.doubts = dict(self._call.doubts)
        self._said = False

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One call; outputs are copied out of torch's memory only where NumPy cannot view it."""
        with torch.inference_mode():
            tensors = {name: torch.from_numpy(inputs[name]).to(self._device) for name in self._call.names}
            args, kwargs = self._call.arguments(tensors)
            return self._named(to_arrays(self._module(*args, **kwargs)))

    def _named(self, own: Mapping[str, Array]) -> dict[str, Array]:
        found = named_again(own, self._outputs)
        if not self._said and list(found) != list(own):
            self._say(own, list(found))
        self._said = True
        return found

    def _say(self, own: Mapping[str, Array], names: Sequence[str]) -> None:
        """That names were given by position; outputs that their shapes tell apart as well are not in doubt."""
        given = [f"{old} is {new}" for old, new in zip(own, names, strict=True)]
        self.facts["outputs"] = f"matched by position: {', '.join(given)}"
        ports = [Port(name, dtype_name(array), array.shape) for name, array in own.items()]
        renamed = [replace(port, name=name) for port, name in zip(ports, names, strict=True)]
        self.doubts |= output_doubts(match_ports(ports, renamed))
