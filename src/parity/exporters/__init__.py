"""Exporters, by name. A new one is a file beside these and a line here, or an entry point elsewhere."""

from __future__ import annotations

from parity.exporters.base import Exported, Exporter, ExportJob, on_request
from parity.registry import Registry

EXPORTERS: Registry[Exporter] = Registry(
    "exporter",
    group="parity.exporters",
    builtin={
        "trace": "parity.exporters.trace:TraceExporter",
        "script": "parity.exporters.script:ScriptExporter",
        "export": "parity.exporters.export:ExportExporter",
        "onnx": "parity.exporters.onnx:OnnxExporter",
        "onnx-torchscript": "parity.exporters.onnx_torchscript:OnnxTorchScriptExporter",
        "int8-dynamic": "parity.exporters.int8_dynamic:Int8DynamicExporter",
        "int8-static": "parity.exporters.int8_static:Int8StaticExporter",
        "onnx-int8-dynamic": "parity.exporters.onnx_int8_dynamic:OnnxInt8DynamicExporter",
        "onnx-int8-static": "parity.exporters.onnx_int8_static:OnnxInt8StaticExporter",
        "compile": "parity.exporters.compiled:CompileExporter",
        "eager": "parity.exporters.eager:EagerExporter",
    },
)

__all__ = ["EXPORTERS", "ExportJob", "Exported", "Exporter", "on_request"]
