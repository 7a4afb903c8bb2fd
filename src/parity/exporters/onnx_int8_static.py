"""ONNX Runtime's static quantization: QDQ, per channel, calibrated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from parity.arrays import Array
from parity.errors import Unsupported
from parity.exporters.base import Exported, ExportJob
from parity.exporters.onnx_quantized import prepared_model, require_quantized
from parity.registry import Availability, needs, needs_one_of


class OnnxInt8StaticExporter:
    """Unsigned activations and signed weights, the pair that x86 kernels are fastest with."""

    name = "onnx-int8-static"
    format = "onnx"
    precision = "int8"
    runtime = "onnxruntime"
    source = "onnx"

    def options(self) -> Mapping[str, str]:
        return {"format": "qdq", "per_channel": "yes", "types": "u8s8"}

    def availability(self) -> Availability:
        return needs("onnx") and needs_one_of("onnxruntime", "onnxruntime-gpu", install="torch-parity[cpu]")

    def export(self, job: ExportJob) -> Exported:
        from onnxruntime.quantization import (  # noqa: PLC0415  # optional, heavy
            CalibrationDataReader,
            QuantFormat,
            QuantType,
            quantize_static,
        )

        if job.calibration is None:
            raise Unsupported("static quantization needs calibration samples", hint="give --calibration")
        feeds: Iterator[dict[str, Array]] = (job.named(batch) for batch in job.calibration())

        class Reader(CalibrationDataReader):
            def get_next(self) -> dict[str, Array] | None:
                return next(feeds, None)

        target = job.folder / "model.onnx"
        with prepared_model(job) as prepared:
            quantize_static(
                prepared,
                target,
                Reader(),
                quant_format=QuantFormat.QDQ,
                per_channel=True,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
            )
        require_quantized(target)
        return Exported("model.onnx")
