"""`torch.jit.script`, frozen."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from parity.exporters.base import Exported, ExportJob
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
        scripted = torch.jit.freeze(torch.jit.script(job.module))
        torch.jit.save(scripted, job.folder / "model.ts.pt")
        return Exported("model.ts.pt")
