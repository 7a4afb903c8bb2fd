"""torch itself: ExportedPrograms, modules quantized by torch.ao, and the model as it is or compiled."""

from __future__ import annotations

import torch
from torch import nn
from torch.export.passes import move_to_device_pass

from parity.artifacts import MODULE, Artifact, read_recipe
from parity.errors import ParityError
from parity.registry import Availability, needs
from parity.runtimes.base import Session, SessionOptions
from parity.runtimes.calls import positional, program_call, script_call
from parity.runtimes.modules import ModuleSession


class TorchRuntime:
    """Opens `.pt2` files, quantized modules in their TorchScript container, and the model itself by its recipe."""

    name = "torch"
    formats = frozenset({"exported-program", "torch-quantized", MODULE})

    def availability(self) -> Availability:
        return needs("torch")

    def open(self, artifact: Artifact, options: SessionOptions) -> Session:
        torch.set_num_threads(options.threads)
        if artifact.manifest.format == MODULE:
            return _open_recipe(artifact, options)
        if artifact.manifest.format == "exported-program":
            program = torch.export.load(artifact.entry)
            if options.device != "cpu":
                program = move_to_device_pass(program, options.device)
            outputs, call = artifact.manifest.outputs, program_call(program, options)
            return ModuleSession(program.module(), call, options.device, outputs=outputs)
        # torch.ao's kernels are for the CPU alone, whatever the rest runs on; the report says so.
        quantized = torch.jit.load(artifact.entry, map_location="cpu")
        facts = {"engine": str(torch.backends.quantized.engine)}
        return ModuleSession(quantized, script_call(quantized, options), "cpu", facts, artifact.manifest.outputs)


def _open_recipe(artifact: Artifact, options: SessionOptions) -> Session:
    if options.module is None:
        raise ParityError("this target is the model itself, and nothing says here how the model is built")
    recipe, module = read_recipe(artifact.entry), options.module().to(options.device)
    call, outputs = positional(options.names), artifact.manifest.outputs
    if recipe["run"] == "eager":
        return ModuleSession(module, call, options.device, outputs=outputs)
    from parity.runtimes.compiled import CompiledSession  # noqa: PLC0415  # loads Dynamo, for this target alone

    scratch = artifact.scratch or artifact.folder / "compiled"
    return CompiledSession(module, call, options.device, outputs, backend=recipe["backend"], scratch=scratch)


def eager_session(module: nn.Module, options: SessionOptions) -> Session:
    """The reference as a session, for the targets to be timed against."""
    torch.set_num_threads(options.threads)
    return ModuleSession(module.to(options.device), positional(options.names), options.device)
