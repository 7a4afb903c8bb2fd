"""`torch.export`, saved as `.pt2`."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from parity.exporters.base import Exported, ExportJob
from parity.exporters.shapes import export_dims
from parity.registry import Availability, needs


class ExportExporter:
    """A graph with the signature's symbols as dynamic dimensions."""

    name = "export"
    format = "exported-program"
    precision = "float"
    runtime = "torch"
    source = None

    def options(self) -> Mapping[str, str]:
        return {"strict": "no"}

    def availability(self) -> Availability:
        return needs("torch")

    def export(self, job: ExportJob) -> Exported:
        with torch.no_grad():
            program = torch.export.export(
                job.module, job.example, dynamic_shapes=export_dims(job.signature), strict=False
            )
        torch.export.save(program, job.folder / "model.pt2")
        return Exported("model.pt2")
