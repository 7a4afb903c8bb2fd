"""Imported by the forkserver alone: slow imports that most children need, where they are installed.

None of these starts a thread while it is imported, which is what makes forking after them safe.
"""

from __future__ import annotations

import contextlib
import importlib

_SLOW = (
    "torch._dynamo",
    "torch.ao.quantization.quantize_fx",
    "torch.onnx._internal.exporter._core",
    "onnx",
    "onnxscript",
)

for _name in _SLOW:
    with contextlib.suppress(Exception):
        importlib.import_module(_name)
