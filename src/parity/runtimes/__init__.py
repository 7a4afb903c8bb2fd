"""Runtimes, by name. A new one is a file beside these and a line here, or an entry point elsewhere."""

from __future__ import annotations

from parity.registry import Registry
from parity.runtimes.base import Runtime, Session, SessionOptions

RUNTIMES: Registry[Runtime] = Registry(
    "runtime",
    group="parity.runtimes",
    builtin={
        "torch": "parity.runtimes.torch:TorchRuntime",
        "torchscript": "parity.runtimes.torchscript:TorchScriptRuntime",
        "onnxruntime": "parity.runtimes.onnxruntime:OnnxRuntime",
    },
)

__all__ = ["RUNTIMES", "Runtime", "Session", "SessionOptions"]
