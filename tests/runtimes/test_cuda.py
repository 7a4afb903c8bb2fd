"""On a GPU every runtime that can use it does; without one, asking for it is refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import parity
from parity.artifacts import Artifact, Manifest
from parity.environment import cuda, machine_class
from parity.errors import UsageError
from parity.runtimes import RUNTIMES, SessionOptions
from parity.runtimes.torch import eager_session

GPU = torch.cuda.is_available()
needs_gpu = pytest.mark.skipif(not GPU, reason=str(cuda()))
X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
OPTIONS = SessionOptions(1, ("x",), "cuda")


def doubled() -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(3, 2).eval()


@pytest.mark.skipif(GPU, reason="there is a GPU to be used")
def test_asking_for_a_gpu_that_is_not_there_says_why_and_what_to_type() -> None:
    with pytest.raises(UsageError, match="there is no GPU to run on") as raised:
        parity.report("no-model-is-needed:to_say_so", inputs=["x: float32[N, 3]"], device="cuda")
    assert raised.value.got is not None
    assert raised.value.got.startswith("unavailable: ")
    assert raised.value.hint == "--device cpu"


def test_a_torch_without_cuda_is_refused_a_gpu_for_that_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(UsageError, match="there is no GPU to run on") as raised:
        parity.report("no-model-is-needed:to_say_so", inputs=["x: float32[N, 3]"], device="cuda")
    assert raised.value.got == "unavailable: torch is built without CUDA"


def test_a_device_of_another_name_is_refused() -> None:
    with pytest.raises(UsageError, match="no such device"):
        parity.report("no-model-is-needed:to_say_so", inputs=["x: float32[N, 3]"], device="tpu")


@needs_gpu
@pytest.mark.parametrize("runtime", ["torch", "torchscript"])
def test_torch_runs_an_artifact_on_the_gpu_and_answers_as_the_cpu_does(runtime: str, tmp_path: Path) -> None:
    example = torch.from_numpy(X)
    if runtime == "torch":
        torch.export.save(torch.export.export(doubled(), (example,)), tmp_path / "m")
    else:
        torch.jit.save(torch.jit.trace(doubled(), example), tmp_path / "m")
    kind = "exported-program" if runtime == "torch" else "torchscript"
    session = RUNTIMES.get(runtime).open(Artifact(tmp_path, Manifest("m", kind, "float", "m")), OPTIONS)
    assert session.facts["device"] == "cuda"
    expected = doubled()(example).detach().numpy()
    assert np.allclose(session.run({"x": X})["output"].astype(np.float64), expected, rtol=1e-4, atol=1e-5)


@needs_gpu
def test_eager_is_timed_on_the_gpu_as_well() -> None:
    session = eager_session(doubled(), OPTIONS)
    assert session.facts["device"] == "cuda"
    assert session.run({"x": X})["output"].shape == (4, 2)


@needs_gpu
def test_ratios_of_a_gpu_have_a_machine_class_of_their_own() -> None:
    assert machine_class(1, "cuda") != machine_class(1)
