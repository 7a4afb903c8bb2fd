"""What the two ONNX Runtime quantizers share: the float model, prepared as its documentation asks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parity.errors import Unsupported
from parity.exporters.base import ExportJob

QUANTIZED_OPS = frozenset(
    {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "ConvInteger",
     "QLinearConv", "QLinearMatMul", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"}
)  # fmt: skip


MAX_PROTOBUF_BYTES = 1 << 30
"""Above it weights stay beside the graph: a protobuf message cannot exceed 2 GiB."""


@contextmanager
def prepared_model(job: ExportJob) -> Iterator[Path]:
    """The float ONNX model after ONNX Runtime's pre-processing (shape inference and fusion).

    The pre-processing links external data into a folder of its own, which onnx then refuses to read, so
    it is given a single file where the weights fit into one.
    """
    import onnx  # noqa: PLC0415  # optional, heavy
    from onnxruntime.quantization.shape_inference import quant_pre_process  # noqa: PLC0415  # optional, heavy

    if job.source is None:
        raise ValueError("the float ONNX model is missing")
    # In the artifact's own folder, which is removed even where this process is killed.
    with tempfile.TemporaryDirectory(prefix="quantize-", dir=job.folder) as folder:
        whole, prepared = Path(folder) / "whole.onnx", Path(folder) / "prepared.onnx"
        beside = job.source.manifest.bytes > MAX_PROTOBUF_BYTES
        onnx.save(onnx.load(job.source.entry), whole, save_as_external_data=beside, location="whole.data")
        quant_pre_process(str(whole), str(prepared), skip_symbolic_shape=True, save_as_external_data=beside)
        yield prepared


def require_quantized(path: Path) -> None:
    """A quantizer that found nothing to do must not pass for a quantized model.

    Raises:
        Unsupported: no operator of the graph is quantized.
    """
    import onnx  # noqa: PLC0415  # optional, heavy

    model = onnx.load(path, load_external_data=False)
    graphs = [model.graph, *model.functions]
    if not any(node.op_type in QUANTIZED_OPS for graph in graphs for node in graph.node):
        raise Unsupported("ONNX Runtime's quantizer found no operator to quantize")
