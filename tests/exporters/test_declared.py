"""What real artifacts declare of their dimensions."""

from __future__ import annotations

import warnings
from pathlib import Path

import onnx
import pytest
import torch
from torch import nn
from torch.export import Dim

from parity.exporters.declared import onnx_dims, program_dims

X = torch.zeros(2, 6, 8)


class Plain(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The positive part."""
        return x.relu()


class Longest(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Another function of sequences that are longer than 64."""
        return x * 2 if x.shape[1] > 64 else x + 1


def exported(module: nn.Module, **dims: object) -> torch.export.ExportedProgram:
    return torch.export.export(module, (X,), dynamic_shapes=({0: dims["n"], 1: dims["t"]},), strict=False)


def saved(folder: Path, **axes: str) -> onnx.ModelProto:
    path = folder / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(nn.ReLU(), (X,), str(path), dynamo=False, input_names=["x"], output_names=["y"],
                          dynamic_axes={"x": {int(axis[1:]): name for axis, name in axes.items()}})  # fmt: skip
    return onnx.load(path)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_dimension_of_an_onnx_graph_is_a_number_or_open(tmp_path: Path) -> None:
    declared = onnx_dims(saved(tmp_path, d0="batch"))
    assert declared.inputs == {"x": ((None, None), (6, 6), (8, 8))}
    assert declared.outputs["y"] == ((None, None), (6, 6), (8, 8))
    assert onnx_dims(saved(tmp_path, d0="batch", d1="anything")).inputs["x"][1] == (None, None)


def test_a_dimension_of_an_exported_program_is_a_number_or_has_its_range() -> None:
    named = program_dims(exported(Plain(), n=Dim("N", min=1), t=Dim("T", min=1, max=128)))
    assert named.inputs == {"x": ((1, None), (1, 128), (8, 8))}
    assert program_dims(exported(Plain(), n=Dim("N"), t=None)).inputs["x"][1] == (6, 6)


def test_a_range_that_a_branch_has_narrowed_is_read() -> None:
    low, high = program_dims(exported(Longest(), n=Dim.DYNAMIC, t=Dim.DYNAMIC)).inputs["x"][1]
    assert (low, high) == (2, 64)


def test_a_multiple_of_a_step_has_the_range_of_the_multiple() -> None:
    stepped = exported(Plain(), n=Dim("N", min=1), t=2 * Dim("_T", min=1, max=8))
    assert program_dims(stepped).inputs["x"][1][1] == 16
