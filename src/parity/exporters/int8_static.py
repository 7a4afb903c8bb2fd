"""PyTorch's static quantization in FX graph mode, calibrated."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch.ao.quantization import get_default_qconfig_mapping
from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

from parity.errors import Unsupported
from parity.exporters.base import Exported, ExportJob
from parity.exporters.quantized import quantized_layers, save_quantized
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
        engine = str(torch.backends.quantized.engine)
        mapping = get_default_qconfig_mapping(engine)
        prepared = prepare_fx(copy.deepcopy(job.module), mapping, job.example)
        with torch.no_grad():
            for batch in job.calibration():
                prepared(*batch)
        quantized = convert_fx(prepared)
        if not quantized_layers(quantized):
            raise Unsupported("there is no layer that static quantization covers")
        return save_quantized(quantized, job.example, job.folder)
