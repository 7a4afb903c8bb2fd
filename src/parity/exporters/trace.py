"""`torch.jit.trace`, frozen."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from parity.exporters.base import Exported, ExportJob
from parity.registry import Availability, needs


class TraceExporter:
    """Records the operators of one call; whatever Python decided during it is baked in."""

    name = "trace"
    format = "torchscript"
    precision = "float"
    runtime = "torchscript"
    source = None

    def options(self) -> Mapping[str, str]:
        return {"freeze": "yes"}

    def availability(self) -> Availability:
        return needs("torch")

    def export(self, job: ExportJob) -> Exported:
        with torch.no_grad():
            # The trace is judged on held-out samples later; torch's own check would repeat the example.
            traced = torch.jit.trace(job.module, job.example, strict=False, check_trace=False)
            torch.jit.save(torch.jit.freeze(traced), job.folder / "model.ts.pt")
        return Exported("model.ts.pt")
