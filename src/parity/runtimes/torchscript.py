"""TorchScript in the interpreter that ships with torch."""

from __future__ import annotations

import torch

from parity.artifacts import Artifact
from parity.registry import Availability, needs
from parity.runtimes.base import Session, SessionOptions
from parity.runtimes.calls import script_call
from parity.runtimes.modules import ModuleSession


class TorchScriptRuntime:
    """Opens what `torch.jit.save` wrote."""

    name = "torchscript"
    formats = frozenset({"torchscript"})

    def availability(self) -> Availability:
        return needs("torch")

    def open(self, artifact: Artifact, options: SessionOptions) -> Session:
        torch.set_num_threads(options.threads)
        module = torch.jit.load(artifact.entry, map_location=options.device)
        return ModuleSession(module, script_call(module, options), options.device, outputs=artifact.manifest.outputs)
