"""PyTorch's dynamic quantization: int8 weights, activations quantized as they come."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import nn

from parity.errors import Unsupported
from parity.exporters.base import Exported, ExportJob
from parity.exporters.quantized import quantized_layers, save_quantized
from parity.registry import Availability, needs

_LAYERS = {nn.Linear, nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell}


class Int8DynamicExporter:
    """`torch.ao.quantization.quantize_dynamic` over linear and recurrent layers."""

    name = "int8-dynamic"
    format = "torch-quantized"
    precision = "int8"
    runtime = "torch"
    source = None

    def options(self) -> Mapping[str, str]:
        return {"layers": ",".join(sorted(kind.__name__ for kind in _LAYERS))}

    def availability(self) -> Availability:
        return needs("torch")

    def export(self, job: ExportJob) -> Exported:
        quantized = torch.ao.quantization.quantize_dynamic(copy.deepcopy(job.module), _LAYERS, dtype=torch.qint8)
        if not quantized_layers(quantized):
            raise Unsupported("there is no linear or recurrent layer to quantize dynamically")
        return save_quantized(quantized, job.example, job.folder)
