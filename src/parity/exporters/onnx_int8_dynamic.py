"""ONNX Runtime's dynamic quantization."""

from __future__ import annotations

from collections.abc import Mapping

from parity.exporters.base import Exported, ExportJob
from parity.exporters.onnx_quantized import prepared_model, require_quantized
from parity.registry import Availability, needs, needs_one_of

OPERATORS = ("MatMul", "Gemm", "LSTM", "Attention")
"""Convolutions stay float: ONNX Runtime has no int8-weight kernel for a dynamically quantized one."""


class OnnxInt8DynamicExporter:
    """Int8 weights per channel, activations quantized as they come."""

    name = "onnx-int8-dynamic"
    format = "onnx"
    precision = "int8"
    runtime = "onnxruntime"
    source = "onnx"

    def options(self) -> Mapping[str, str]:
        return {"operators": ",".join(OPERATORS), "per_channel": "yes"}

    def availability(self) -> Availability:
        return needs("onnx") and needs_one_of("onnxruntime", "onnxruntime-gpu", install="torch-parity[cpu]")

    def export(self, job: ExportJob) -> Exported:
        from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415  # optional, heavy

        target = job.folder / "model.onnx"
        with prepared_model(job) as prepared:
            quantize_dynamic(
                prepared, target, op_types_to_quantize=list(OPERATORS), per_channel=True, weight_type=QuantType.QInt8
            )
        require_quantized(target)
        return Exported("model.onnx")
