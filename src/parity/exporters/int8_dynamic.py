"""PyTorch's dynamic quantization: int8 weights, activations quantized as they come."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import nn
from torch.ao.quantization import default_dynamic_qconfig, quantize_dynamic

from parity.errors import Unsupported
from parity.exporters.base import Exported, ExportJob
from parity.exporters.quantized import quantized_layers, save_quantized
from parity.models.programs import require_modules
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
        require_modules(job.module, "torch.ao.quantization")
        quantized, notes = _quantize(job)
        if not quantized_layers(quantized):
            raise Unsupported("there is no linear or recurrent layer to quantize dynamically")
        saved = save_quantized(quantized, job.example, job.folder)
        return Exported(saved.entry, (*notes, *saved.notes))


def _quantize(job: ExportJob) -> tuple[nn.Module, tuple[str, ...]]:
    """Every layer that can be; a parent that reads its child's weight keeps that child in float.

    A quantized layer's `weight` is a method, so such a parent raises as soon as it is called.
    """
    whole = quantize_dynamic(copy.deepcopy(job.module), _LAYERS, dtype=torch.qint8)
    if _runs(whole, job):
        return whole, ()
    by_parent: dict[str, list[str]] = {}
    for name, layer in job.module.named_modules():
        if type(layer) in _LAYERS:
            parent = job.module.get_submodule(name.rpartition(".")[0])
            by_parent.setdefault(type(parent).__name__, []).append(name)
    sound = [kind for kind, names in by_parent.items() if _runs(_only(job.module, names), job)]
    left = sorted(by_parent.keys() - set(sound))
    note = f"layers inside {', '.join(left)} stay float: it reads their weights, which it cannot once quantized"
    return _only(job.module, [name for kind in sound for name in by_parent[kind]]), (note,)


def _only(module: nn.Module, names: list[str]) -> nn.Module:
    chosen = dict.fromkeys(names, default_dynamic_qconfig)
    quantized: nn.Module = quantize_dynamic(copy.deepcopy(module), chosen) if names else module
    return quantized


def _runs(module: nn.Module, job: ExportJob) -> bool:
    try:
        with torch.no_grad():
            copy.deepcopy(module)(*(tensor.clone() for tensor in job.example))
    except (TypeError, AttributeError):
        return False
    return True
