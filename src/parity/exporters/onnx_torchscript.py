"""ONNX through TorchScript, with dynamic axes."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from parity.exporters.base import Exported, ExportJob
from parity.exporters.onnx import graph_outputs
from parity.exporters.shapes import dynamic_axes
from parity.models.binding import taking_inputs_alone
from parity.registry import Availability, needs

OPSET = 17
"""The newest opset that runtimes of the last three years all read and that this exporter covers well."""


class OnnxTorchScriptExporter:
    """The older exporter, `torch.onnx.export(dynamo=False)`; it traces."""

    name = "onnx-torchscript"
    format = "onnx"
    precision = "float"
    runtime = "onnxruntime"
    source = None

    def options(self) -> Mapping[str, str]:
        return {"dynamo": "no", "opset": str(OPSET)}

    def availability(self) -> Availability:
        return needs("torch", "onnx")

    def export(self, job: ExportJob) -> Exported:
        outputs = graph_outputs(job)
        with torch.no_grad():
            torch.onnx.export(
                # It passes every optional argument by position, keyword-only ones as well.
                _traced_if_scripted(taking_inputs_alone(job.module, job.signature.names), job.example),
                job.example,
                str(job.folder / "model.onnx"),
                dynamo=False,
                input_names=list(job.signature.names),
                output_names=outputs,
                dynamic_axes=dynamic_axes(job.signature, tuple(outputs)),
                opset_version=OPSET,
            )
        return Exported("model.onnx")


def _traced_if_scripted(module: nn.Module, example: tuple[torch.Tensor, ...]) -> nn.Module:
    """The module, traced beforehand where part of it is TorchScript already.

    The exporter's own trace does not know such a part, and ends with "not part of the active trace".
    """
    inner = (each for each in module.modules() if each is not module)
    if not any(isinstance(each, torch.jit.ScriptModule) for each in inner):
        return module
    traced: nn.Module = torch.jit.trace(module, example, strict=False, check_trace=False)
    return traced
