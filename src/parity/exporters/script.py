"""`torch.jit.script`, frozen."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from parity.errors import Unsupported
from parity.exporters.base import Exported, ExportJob
from parity.models.programs import is_program
from parity.registry import Availability, needs


class ScriptExporter:
    """Compiles the module's source, control flow included."""

    name = "script"
    format = "torchscript"
    precision = "float"
    runtime = "torchscript"
    source = None

    def options(self) -> Mapping[str, str]:
        return {"freeze": "yes"}

    def availability(self) -> Availability:
        return needs("torch")

    def export(self, job: ExportJob) -> Exported:
        if is_program(job.module):
            raise Unsupported("the model is an exported program, which has no source to compile")
        scripted = torch.jit.freeze(torch.jit.script(job.module))
        torch.jit.save(scripted, job.folder / "model.ts.pt")
        return Exported("model.ts.pt")
