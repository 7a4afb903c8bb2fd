"""What the torch.ao exporters share: saving a quantized module without pickling it."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from parity.exporters.base import Exported

ENTRY = "model.int8.pt"

_QUANTIZED_PACKAGES = ("torch.ao.nn.quantized", "torch.ao.nn.intrinsic.quantized", "torch.ao.nn.quantizable")


def quantized_layers(module: nn.Module) -> int:
    """How many submodules compute with quantized weights."""
    return sum(type(each).__module__.startswith(_QUANTIZED_PACKAGES) for each in module.modules())


def save_quantized(module: nn.Module, example: tuple[torch.Tensor, ...], folder: Path) -> Exported:
    """Save a quantized module in a TorchScript container: scripted, or traced where it cannot be."""
    notes: tuple[str, ...] = ()
    try:
        scripted = torch.jit.script(module)
    except Exception as error:  # noqa: BLE001  # the compiler raises many kinds; tracing is the documented way on
        print(f"torch.jit.script: {error}")  # noqa: T201  # goes to the log beside the artifact
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        notes = (f"saved by tracing, since it cannot be scripted: {reason[:160]}",)
        with torch.no_grad():
            scripted = torch.jit.trace(module, example, strict=False, check_trace=False)
    torch.jit.save(scripted, folder / ENTRY)
    return Exported(ENTRY, notes)
