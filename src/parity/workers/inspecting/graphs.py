"""ONNX files, with external data or without, and ONNX Runtime's own format."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from parity.artifacts import Artifact
from parity.errors import UsageError
from parity.exporters.declared import onnx_dims
from parity.exporters.onnx_quantized import QUANTIZED_OPS
from parity.runtimes.onnx_files import external_data, nodes
from parity.workers.inspecting.described import described, most_weights
from parity.workers.inspecting.strangers import not_an_artifact

_ORT = b"ORTM"
_DAMAGED = "the ONNX file is damaged or cut off: {}: copy or export it again"


def is_ort(path: Path) -> bool:
    """Whether a file is in ONNX Runtime's own format, a flatbuffer."""
    with path.open("rb") as file:
        return file.read(8)[4:] == _ORT


def inspect_ort(path: Path) -> Artifact:
    """Describe a file in ONNX Runtime's own format; of its content only the operators' names are looked at."""
    content = path.read_bytes()
    quantized = any(name.encode() in content for name in QUANTIZED_OPS)
    return described(path, "ort", "int8" if quantized else "float")


def inspect_onnx(path: Path) -> Artifact:
    """Describe an ONNX file; one that is damaged or lacks its external data has a `problem`.

    Raises:
        UsageError: onnx is not installed, or this is something else that is not called `.onnx` either.
    """
    try:
        import onnx  # noqa: PLC0415  # optional, heavy
    except ImportError as error:
        raise UsageError("onnx is not installed, so this file cannot be read", where=str(path),
                         hint="pip install torch-parity[cpu]") from error  # fmt: skip
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception as error:
        if path.suffix == ".onnx":
            return described(path, "onnx", problem=_DAMAGED.format(type(error).__name__))
        raise not_an_artifact(path, f"{type(error).__name__} as ONNX") from error
    if not model.graph.node:
        if path.suffix == ".onnx":
            return described(path, "onnx", problem=_DAMAGED.format("it holds no graph"))
        raise not_an_artifact(path, "no ONNX graph in it")
    external = external_data(model, path.parent)
    quantized = any(node.op_type in QUANTIZED_OPS for node in nodes(model))
    return described(
        path,
        "onnx",
        "int8" if quantized else _precision(model.graph.initializer),
        beside=external.files,
        declared=onnx_dims(model),
        notes=(_versions(model), *([external.note] if external.note else [])),
        problem=external.problem,
    )


def _versions(model: Any) -> str:
    opsets = ", ".join(f"{entry.domain or 'opset'} {entry.version}" for entry in model.opset_import)
    made = f", written by {model.producer_name} {model.producer_version}".rstrip() if model.producer_name else ""
    return f"{opsets}, IR version {model.ir_version}{made}"


def _precision(initializers: Iterable[Any]) -> str:
    from onnx import TensorProto  # noqa: PLC0415  # optional, and here already

    names = {TensorProto.FLOAT: "float32", TensorProto.FLOAT16: "float16", TensorProto.BFLOAT16: "bfloat16"}
    sizes = Counter[str]()
    for tensor in initializers:
        sizes[names.get(tensor.data_type, "")] += math.prod(tensor.dims)
    return most_weights(sizes)
