"""PyTorch's static quantization in FX graph mode, calibrated."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import nn
from torch.ao.quantization import QConfig, QConfigMapping, get_default_qconfig, get_default_qconfig_mapping
from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

from parity.errors import Unsupported
from parity.exporters.base import Exported, ExportJob
from parity.exporters.quantized import quantized_layers, save_quantized
from parity.models.binding import taking_inputs_alone
from parity.models.programs import require_modules
from parity.registry import Availability, needs


class Int8StaticExporter:
    """Int8 weights and activations, scales fitted to the calibration samples."""

    name = "int8-static"
    format = "torch-quantized"
    precision = "int8"
    runtime = "torch"
    source = None

    def options(self) -> Mapping[str, str]:
        return {"mode": "fx", "engine": str(torch.backends.quantized.engine)}

    def availability(self) -> Availability:
        return needs("torch")

    def export(self, job: ExportJob) -> Exported:
        if job.calibration is None:
            raise Unsupported("static quantization needs calibration samples", hint="give --calibration")
        require_modules(job.module, "FX graph mode")
        engine = str(torch.backends.quantized.engine)
        notes: tuple[str, ...] = ()
        try:
            quantized = _quantize(job, get_default_qconfig_mapping(engine))
        except NotImplementedError as error:
            # The default observes every operator, and its histogram has no kernel for integer tensors.
            first = str(error).splitlines()[0]
            notes = (f"only layers are quantized, since the default configuration cannot be calibrated: {first}",)
            quantized = _quantize(job, _layers_alone(get_default_qconfig(engine)))
        if not quantized_layers(quantized):
            raise Unsupported("there is no layer that static quantization covers")
        saved = save_quantized(quantized, job.example, job.folder)
        return Exported(saved.entry, (*notes, *saved.notes))


def _quantize(job: ExportJob, mapping: QConfigMapping) -> nn.Module:
    # Symbolic tracing takes an optional argument for an input, and cannot branch on it.
    module = taking_inputs_alone(copy.deepcopy(job.module), job.signature.names)
    prepared = prepare_fx(module, mapping, job.example)
    with torch.no_grad():
        for batch in job.calibration() if job.calibration else ():
            prepared(*batch)
    converted: nn.Module = convert_fx(prepared)
    return converted


def _layers_alone(qconfig: QConfig) -> QConfigMapping:
    mapping = QConfigMapping().set_global(None)
    for kind in (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d):
        mapping = mapping.set_object_type(kind, qconfig)
    return mapping
