"""`torch.export`, saved as `.pt2`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch._dynamo.exc import UserError
from torch.export import ExportedProgram

from parity.errors import ParityError
from parity.exporters.base import Exported, ExportJob
from parity.exporters.declared import program_dims
from parity.exporters.shapes import export_dims, inferred_dims
from parity.models.programs import require_modules
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
        require_modules(job.module, "torch.export")
        notes: tuple[str, ...] = ()
        try:
            program = _export(job, export_dims(job.signature))
        except (UserError, ValueError) as error:
            # The bounds of the signature cannot be promised; whether they hold is found out by running.
            program = _inferred(job, error)
            notes = (f"torch.export could not promise the signature's bounds: {_constraint(error)}",)
        torch.export.save(program, job.folder / "model.pt2")
        return Exported("model.pt2", notes, program_dims(program))


def _export(job: ExportJob, dims: tuple[dict[int, Any], ...]) -> ExportedProgram:
    with torch.no_grad():
        return torch.export.export(job.module, job.example, dynamic_shapes=dims, strict=False)


def _inferred(job: ExportJob, first: Exception) -> ExportedProgram:
    try:
        return _export(job, inferred_dims(job.signature))
    except (UserError, ValueError):
        raise ParityError(f"torch.export refuses the signature: {_constraint(first)}") from first


def _constraint(error: Exception) -> str:
    """The line of torch's message that names the dimension."""
    lines = [" ".join(line.strip(" -").split()) for line in str(error).splitlines() if line.strip().startswith("-")]
    return next(iter(lines), str(error).splitlines()[0])[:200]
