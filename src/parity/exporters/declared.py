"""What an artifact itself says of its dimensions: read from the graph, before anything is run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from parity.artifacts import Bounds, Declared

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def onnx_dims(model: Any) -> Declared:
    """The dimensions of the inputs and outputs of an ONNX model (`onnx.ModelProto`, weights not needed)."""
    weights = {tensor.name for tensor in model.graph.initializer}
    return Declared(
        _value_infos(info for info in model.graph.input if info.name not in weights), _value_infos(model.graph.output)
    )


def _value_infos(infos: Iterable[Any]) -> dict[str, tuple[Bounds, ...]]:
    return {
        info.name: tuple(_onnx_bounds(dim) for dim in info.type.tensor_type.shape.dim)
        for info in infos
        if info.type.HasField("tensor_type") and info.type.tensor_type.HasField("shape")
    }


def _onnx_bounds(dim: Any) -> Bounds:
    size = dim.dim_value if dim.HasField("dim_value") and dim.dim_value > 0 else None
    return size, size


def program_dims(program: ExportedProgram) -> Declared:
    """The dimensions of the user's inputs of an exported program, with the ranges that it promises."""
    import torch  # noqa: PLC0415  # the registry of exporters is read without it

    shapes = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    inputs: dict[str, tuple[Bounds, ...]] = {}
    for name in program.graph_signature.user_inputs:
        value = shapes.get(name) if isinstance(name, str) else None
        if isinstance(name, str) and isinstance(value, torch.Tensor):
            inputs[name] = tuple(_program_bounds(size, program) for size in value.shape)
    return Declared(inputs, {})


def _program_bounds(size: Any, program: ExportedProgram) -> Bounds:
    if isinstance(size, int):
        return size, size
    from parity.models.program_inputs import size_bounds  # noqa: PLC0415  # loads torch

    return size_bounds(size.node.expr, program)
