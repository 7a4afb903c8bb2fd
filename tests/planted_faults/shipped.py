"""Files as a team's own script leaves them: healthy ones, and the same with what goes wrong on the way."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path

import onnx
import torch
from torch import nn

from tests.planted_faults.artifacts import EXAMPLE, save_onnx

OTHER = EXAMPLE.flip(0) * 0.5


def save_beside(module: nn.Module, path: Path) -> Path:
    """ONNX with its weights in a file beside it, through torch.export."""
    path.parent.mkdir(exist_ok=True)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module, (EXAMPLE,), path, dynamo=True, input_names=["x"], output_names=["logits"],
            dynamic_shapes=({0: "N"},), external_data=True, verbose=False,
        )  # fmt: skip
    return path


def leave_behind(module: nn.Module, path: Path) -> None:
    """The graph copied without its weights."""
    save_beside(module, path)
    path.with_name(f"{path.name}.data").unlink()


def cut_off(module: nn.Module, path: Path) -> None:
    """Weights that were copied in part."""
    save_beside(module, path)
    data = path.with_name(f"{path.name}.data")
    data.write_bytes(data.read_bytes()[:100])


def export_over(older: nn.Module, newer: nn.Module, path: Path) -> None:
    """A graph that is kept, while the file of its weights is written again by a newer export of that name."""
    export = save_beside(older, path.with_name("model.onnx"))
    shutil.copy(export, path)
    save_beside(newer, export)


def rewritten(source: Path, path: Path, *, opset: int | None = None, ir: int | None = None, domain: str = "") -> None:
    """The same file with another opset, IR version, or its ReLU from another domain."""
    model = onnx.load(source)
    if opset is not None:
        model.opset_import[0].version = opset
    if ir is not None:
        model.ir_version = ir
    if domain:
        model.opset_import.append(onnx.helper.make_opsetid(domain, 1))
        next(node for node in model.graph.node if node.op_type == "Relu").domain = domain
    path.write_bytes(model.SerializeToString())


def damage(module: nn.Module, path: Path) -> None:
    """An ONNX file that was copied in part."""
    content = save_onnx(module, path).read_bytes()
    path.write_bytes(content[: len(content) // 2])


def save_pair(module: nn.Module, path: Path, names: Sequence[str], *, swapped: bool = False) -> None:
    """ONNX of a module with two inputs or three, under other names, and with the first two exchanged."""

    class Swapped(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, right: torch.Tensor, left: torch.Tensor) -> torch.Tensor:
            logits: torch.Tensor = self.inner(left, right)
            return logits

    inputs = (EXAMPLE, OTHER, torch.ones(1))[: len(names)]
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Swapped().eval() if swapped else module, inputs, str(path), dynamo=False, input_names=list(names),
            output_names=["logits"], dynamic_axes={name: {0: "N"} for name in (*names[:2], "logits")}, opset_version=17,
        )  # fmt: skip
