"""ONNX through `torch.export`, with dynamic shapes."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from parity.exporters.base import Exported, ExportJob
from parity.exporters.shapes import named_dims
from parity.models.programs import require_modules
from parity.registry import Availability, needs


class OnnxExporter:
    """The exporter that `torch.onnx.export` uses by default."""

    name = "onnx"
    format = "onnx"
    precision = "float"
    runtime = "onnxruntime"
    source = None

    def options(self) -> Mapping[str, str]:
        return {"dynamo": "yes", "external_data": "yes", "dims": "named"}

    def availability(self) -> Availability:
        return needs("torch", "onnx", "onnxscript")

    def export(self, job: ExportJob) -> Exported:
        require_modules(job.module, "torch.export")
        with torch.no_grad():
            torch.onnx.export(
                job.module,
                job.example,
                job.folder / "model.onnx",
                dynamo=True,
                input_names=list(job.signature.names),
                output_names=graph_outputs(job),
                dynamic_shapes=named_dims(job.signature),
                external_data=True,
                verbose=False,
            )
        return Exported("model.onnx")


def graph_outputs(job: ExportJob) -> list[str]:
    """Names for the graph's outputs: the reference's, kept apart from the inputs' where they are equal."""
    return [f"{name}_out" if name in job.signature.names else name for name in job.outputs]
