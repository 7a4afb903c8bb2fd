"""The weights of each kind of artifact are read, under the names that the model gives them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from parity.models.signature import parse_signature
from parity.models.spec import ModelSpec
from parity.workers.inspecting import inspect_artifact
from parity.workers.weights import held_weights
from tests.planted_faults import zoo
from tests.planted_faults.artifacts import EXAMPLE, save_onnx, save_scripted, save_traced

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def saved(kind: str, module: torch.nn.Module, folder: Path) -> Path:
    path = folder / f"model.{kind}"
    if kind == "onnx":
        return save_onnx(module, path)
    if kind == "dynamo.onnx":
        torch.onnx.export(module, (EXAMPLE,), path, dynamo=True, verbose=False, external_data=True)
    elif kind == "pt2":
        torch.export.save(torch.export.export(module, (EXAMPLE,)), path)
    else:
        (save_traced if kind == "trace.pt" else save_scripted)(module, path)
    return path


@pytest.mark.parametrize("kind", ["onnx", "dynamo.onnx", "trace.pt", "script.pt", "pt2"])
def test_another_checkpoint_is_told_from_the_models_own(tmp_path: Path, kind: str) -> None:
    shutil.copy(zoo.__file__, tmp_path / "zoo.py")
    spec = ModelSpec("net", "zoo.py:Classifier", parse_signature("x: float32[N, 12]"), tmp_path)
    own = zoo.Classifier().eval()
    found = held_weights(spec, inspect_artifact(saved(kind, own, tmp_path)))
    assert (found.other, found.suspicious) == ((), False)
    assert found.compared >= 2
    with torch.no_grad():
        for parameter in own.parameters():
            parameter.mul_(torch.rand_like(parameter) + 1.5)
    assert held_weights(spec, inspect_artifact(saved(kind, own, tmp_path))).suspicious


def test_a_wrapper_in_the_artifacts_names_does_not_hide_them(tmp_path: Path) -> None:
    shutil.copy(zoo.__file__, tmp_path / "zoo.py")
    spec = ModelSpec("net", "zoo.py:Classifier", parse_signature("x: float32[N, 12]"), tmp_path)
    wrapped = torch.nn.Sequential(zoo.Classifier()).eval()
    assert held_weights(spec, inspect_artifact(saved("trace.pt", wrapped, tmp_path))).compared >= 4
