"""What a file made elsewhere is: its format and precision, from its content."""

from __future__ import annotations

import math
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from parity.artifacts import REDUCED, Artifact, Declared, Manifest, describe_files
from parity.errors import UsageError
from parity.exporters.declared import onnx_dims, program_dims
from parity.models.kinds import CHECKPOINT, EXPORTED_PROGRAM, TORCHSCRIPT, archive_kind


def inspect_artifact(path: Path) -> Artifact:
    """Describe a file as an artifact of the folder it lies in, external data included.

    Raises:
        UsageError: there is no such file, it is no artifact, or its external data is missing.
    """
    if not path.is_file():
        raise UsageError("there is no such artifact", where=str(path), hint="check the path given to --artifact")
    if zipfile.is_zipfile(path):
        return _zipped(path)
    return _onnx(path)


def _zipped(path: Path) -> Artifact:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        code = "".join(archive.read(name).decode("utf-8", "replace") for name in names if name.endswith(".py"))
    kind = archive_kind(names)
    if kind == TORCHSCRIPT:
        precision = "int8" if "quantized" in code else _torchscript_precision(path)
        return _artifact(path, "torchscript", precision, (path.name,))
    if kind == EXPORTED_PROGRAM:
        return _artifact(path, "exported-program", "float", (path.name,), _program_dims(path))
    raise UsageError(
        "this file is no artifact",
        where=str(path),
        allowed="TorchScript, .pt2, or ONNX",
        got="a checkpoint: it holds weights and no program" if kind == CHECKPOINT else "a zip",
    )


def _onnx(path: Path) -> Artifact:
    try:
        import onnx  # noqa: PLC0415  # optional, heavy
        from onnx.external_data_helper import uses_external_data  # noqa: PLC0415
    except ImportError as error:
        raise UsageError("onnx is not installed, so this file cannot be read", where=str(path),
                         hint="pip install torch-parity[cpu]") from error  # fmt: skip
    from parity.exporters.onnx_quantized import QUANTIZED_OPS  # noqa: PLC0415

    try:
        model = onnx.load(path, load_external_data=False)
    except Exception as error:
        raise UsageError(f"this file is no artifact: {type(error).__name__}", where=str(path),
                         allowed="TorchScript, .pt2, or ONNX") from error  # fmt: skip
    if not model.graph.node:
        raise UsageError("this ONNX file holds no graph", where=str(path), allowed="TorchScript, .pt2, or ONNX")
    beside = {
        entry.value
        for tensor in model.graph.initializer
        if uses_external_data(tensor)
        for entry in tensor.external_data
        if entry.key == "location"
    }
    missing = sorted(name for name in beside if not (path.parent / name).is_file())
    if missing:
        raise UsageError("the external data of this ONNX file is missing", where=str(path), got=f"no {missing[0]}",
                         hint=f"copy {missing[0]} beside it")  # fmt: skip
    nodes = [node for graph in (model.graph, *model.functions) for node in graph.node]
    quantized = any(node.op_type in QUANTIZED_OPS for node in nodes)
    precision = "int8" if quantized else _onnx_precision(model.graph.initializer)
    return _artifact(path, "onnx", precision, (path.name, *sorted(beside)), onnx_dims(model))


def _program_dims(path: Path) -> Declared | None:
    import torch  # noqa: PLC0415  # only for this kind of file

    try:
        return program_dims(torch.export.load(path))
    except Exception:  # noqa: BLE001  # an operator that only the model's code registers: the open stage tells
        return None


def _torchscript_precision(path: Path) -> str:
    import torch  # noqa: PLC0415  # only for this kind of file

    try:
        module = torch.jit.load(str(path), map_location="meta")
    except Exception:  # noqa: BLE001  # the open stage says what is wrong with it
        return "float"
    sizes = Counter[str]()
    for tensor in (*module.parameters(), *module.buffers()):
        sizes[str(tensor.dtype).rpartition(".")[2]] += tensor.numel()
    return _reduced(sizes)


def _onnx_precision(initializers: Iterable[Any]) -> str:
    from onnx import TensorProto  # noqa: PLC0415  # optional, and here already

    names = {TensorProto.FLOAT: "float32", TensorProto.FLOAT16: "float16", TensorProto.BFLOAT16: "bfloat16"}
    sizes = Counter[str]()
    for tensor in initializers:
        sizes[names.get(tensor.data_type, "")] += math.prod(tensor.dims)
    return _reduced(sizes)


def _reduced(sizes: Mapping[str, int]) -> str:
    """The reduced precision that most of the weights have, or `float`."""
    floats = {name: sizes.get(name, 0) for name in ("float32", "float64", *REDUCED)}
    most = max(floats, key=lambda name: floats[name])
    return most if most in REDUCED and floats[most] else "float"


def _artifact(
    path: Path, kind: str, precision: str, files: tuple[str, ...], declared: Declared | None = None
) -> Artifact:
    described = describe_files(path.parent, only=files)
    manifest = Manifest(path.name, kind, precision, path.name, files=described, declared=declared, foreign=True)
    return Artifact(path.parent, manifest)
