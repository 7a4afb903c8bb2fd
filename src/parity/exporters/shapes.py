"""The signature's symbolic dimensions in the words of each export API."""

from __future__ import annotations

from typing import Any

from parity.models.signature import Signature


def export_dims(signature: Signature) -> tuple[dict[int, Any], ...]:
    """`dynamic_shapes` of torch.export: one `Dim` a symbol, shared by every input that uses it."""
    from torch.export import Dim  # noqa: PLC0415  # loads torch

    dims: dict[str, Any] = {}
    for name, dim in signature.symbols.items():
        bounds = {"min": dim.low} if dim.high is None else {"min": dim.low, "max": dim.high}
        if dim.step == 1:
            dims[name] = Dim(name, **bounds)
        else:
            unit = Dim(f"_{name}", **{key: max(value // dim.step, 1) for key, value in bounds.items()})
            dims[name] = dim.step * unit
    return tuple(
        {axis: dims[dim.symbol] for axis, dim in enumerate(spec.dims) if dim.symbol is not None}
        for spec in signature.inputs
    )


def inferred_dims(signature: Signature) -> tuple[dict[int, Any], ...]:
    """`dynamic_shapes` of torch.export with the bounds left to it; it still raises where it finds a constant."""
    from torch.export import Dim  # noqa: PLC0415  # loads torch

    return tuple(
        {axis: Dim.DYNAMIC for axis, dim in enumerate(spec.dims) if dim.symbol is not None} for spec in signature.inputs
    )


def named_dims(signature: Signature) -> tuple[dict[int, str], ...]:
    """`dynamic_shapes` of the torch.export based ONNX exporter: names alone, it finds the bounds."""
    return tuple(
        {axis: dim.symbol for axis, dim in enumerate(spec.dims) if dim.symbol is not None} for spec in signature.inputs
    )


def dynamic_axes(signature: Signature, outputs: tuple[str, ...]) -> dict[str, dict[int, str]]:
    """`dynamic_axes` of the TorchScript ONNX exporter; outputs get the batch alone, the rest is inferred."""
    axes = dict(zip(signature.names, named_dims(signature), strict=True))
    if signature.batch is not None:
        axes |= {name: {0: signature.batch} for name in outputs}
    return axes
