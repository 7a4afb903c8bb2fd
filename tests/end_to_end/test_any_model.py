"""`parity report theirs.pt` works, or says in one message what is missing and how to give it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torchvision import models

import parity
from parity.errors import ModelError, ParityError, UsageError
from parity.records import Report, Symptom, Verdict
from tests.end_to_end import any_model

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

IMAGES, SCALES = torch.randn(2, 3, 12, 12), torch.randn(2, 8)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder, and a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARITY_CACHE", str(tmp_path / ".cache"))
    shutil.copy(any_model.__file__, tmp_path / "net.py")
    return tmp_path


def judged(model: str, *targets: str, **options: Any) -> Report:
    return parity.report(model, targets=targets, latency=False, in_process=True, **options)


def test_a_torchscript_archive_needs_nothing_but_its_inputs(folder: Path) -> None:
    torch.jit.save(torch.jit.freeze(torch.jit.trace(any_model.Net().eval(), (IMAGES,))), folder / "theirs.pt")
    with pytest.raises(UsageError, match="nothing says what the model's inputs are") as raised:
        judged("theirs.pt", "trace")
    assert '--input "image: float32[N, ...]"' in str(raised.value)
    made = judged("theirs.pt", "trace", "script", "export", inputs=("image: float32[N, 3, 12, 12]",))
    verdicts = {record.target: record.verdict for record in made.records}
    assert verdicts == {
        "trace@torchscript": Verdict.PASS, "script@torchscript": Verdict.PASS, "export@torch": Verdict.SKIP,
    }  # fmt: skip
    assert made.record("export@torch").symptom is Symptom.UNSUPPORTED


def test_a_branch_in_torchscript_stays_one_and_an_artifact_without_it_fails(folder: Path) -> None:
    torch.jit.save(torch.jit.script(any_model.Signed()), folder / "theirs.pt")
    torch.jit.save(torch.jit.trace(any_model.Signed(), (torch.ones(2, 6),)), folder / "branchless.pt")
    inputs = ("x: float32[N, 6]",)
    assert judged("theirs.pt", "trace", "script", inputs=inputs).verdict is Verdict.PASS
    made = judged("theirs.pt", "trace", inputs=inputs, artifacts=["branchless.pt"])
    assert made.record("branchless.pt@torchscript").verdict is Verdict.FAIL


def test_an_exported_program_tells_everything_itself(folder: Path) -> None:
    dims = {name: {0: torch.export.Dim("batch")} for name in ("image", "scale")}
    program = torch.export.export(
        any_model.Net().eval(), (IMAGES,), kwargs={"scale": SCALES}, dynamic_shapes=dims
    )  # fmt: skip
    torch.export.save(program, folder / "theirs.pt2")
    made = judged("theirs.pt2", "trace", "export", "script")
    assert made.model.inputs == ("image: float32[N, 3, 12, 12]", "scale: float32[N, 8]")
    assert "called as forward(image, scale=scale)" in made.model.notes
    verdicts = {record.target: record.verdict for record in made.records}
    assert verdicts == {
        "trace@torchscript": Verdict.PASS, "export@torch": Verdict.PASS, "script@torchscript": Verdict.SKIP,
    }  # fmt: skip


def test_weights_alone_are_recognised_whatever_lies_around_them(folder: Path) -> None:
    torch.manual_seed(0)
    weights = models.squeezenet1_1(weights=None, num_classes=7).state_dict()
    wrapped = {f"module.{key}": value for key, value in weights.items()}
    torch.save({"epoch": 3, "best": np.float64(0.9), "model": wrapped}, folder / "theirs.pth.tar")
    np.save(folder / "images.npy", np.random.default_rng(0).standard_normal((4, 3, 48, 48)).astype(np.float32))
    made = judged("theirs.pth.tar", "trace", samples="images.npy")
    assert made.verdict is Verdict.PASS
    assert made.model.name == "theirs"
    notes = " | ".join(made.model.notes)
    assert "recognised as torchvision:squeezenet1_1(num_classes=7)" in notes
    assert "the prefix 'module.' was removed from 52 keys" in notes
    assert made.model.inputs == ("x: float32[N, 3, 48, 48]",)


def test_weights_of_nothing_that_is_known_are_refused_with_what_to_type(folder: Path) -> None:
    torch.save(any_model.Net().state_dict(), folder / "theirs.pt")
    with pytest.raises(ModelError, match="no architecture") as raised:
        judged("theirs.pt", "trace")
    assert "4 tensors with 269 numbers, the first conv.weight [8, 3, 3, 3]" in str(raised.value)
    assert "parity report theirs.pt --arch package.module:factory" in str(raised.value)


def test_an_architecture_that_is_given_gets_the_classes_that_the_weights_have(folder: Path) -> None:
    torch.manual_seed(0)
    torch.save(models.squeezenet1_1(weights=None, num_classes=7).state_dict(), folder / "theirs.pt")
    inputs = ("x: float32[N, 3, 48, 48]",)
    made = judged("theirs.pt", "trace", arch="torchvision:squeezenet1_1", inputs=inputs)
    assert made.verdict is Verdict.PASS
    assert "torchvision:squeezenet1_1(num_classes=7) is what fits the weights" in made.model.notes
    with pytest.raises(ModelError, match="does not fit"):
        judged("theirs.pt", "trace", arch="torchvision:resnet18", inputs=inputs)


def test_samples_tell_the_inputs_and_forward_says_what_they_are_called(folder: Path) -> None:
    torch.save(any_model.Net().state_dict(), folder / "theirs.pt")
    rng = np.random.default_rng(0)
    images = rng.standard_normal((6, 3, 12, 12)).astype(np.float32)
    np.savez(folder / "both.npz", image=images, scale=rng.standard_normal((6, 8)).astype(np.float32))
    made = judged("theirs.pt", "trace", arch="net.py:Net", samples="both.npz")
    assert made.verdict is Verdict.PASS
    assert "called as forward(image, scale=scale)" in made.model.notes
    np.save(folder / "images.npy", images)
    made = judged("theirs.pt", "trace", arch="net.py:Net", samples="images.npy")
    assert made.model.inputs == ("image: float32[N, 3, 12, 12]",)
    assert "left at the defaults of forward: scale" in made.model.notes


def test_a_module_in_a_pickle_is_read_where_its_maker_is_trusted(folder: Path) -> None:
    torch.save(any_model.Net(), folder / "theirs.pt")
    inputs = ("image: float32[N, 3, 12, 12]",)
    with pytest.raises(ModelError, match="whole pickled module") as raised:
        judged("theirs.pt", "trace", inputs=inputs)
    assert "--trust-pickle" in str(raised.value)
    assert judged("theirs.pt", "trace", inputs=inputs, trust_pickle=True).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("net.py:Net", {}, '--input "image: float32\\[N, 3, H, W]"'),
        ("net.py:Net", {"arch": "net.py:Net", "inputs": ("image: float32[N, 3, 12, 12]",)}, "is for a file of weights"),
        ("net.py:Net", {"inputs": ("a: float32[N, 3, 8, 8]", "b: float32[N]")}, "does not take the input 'b'"),
        ("theirs.ts", {"arch": "net.py:Net"}, "holds its own architecture"),
        ("theirs.onnx", {}, "is an artifact, not a model"),
        ("torchvision:resnet81", {}, "did you mean 'resnet1"),
    ],
)
def test_what_is_missing_is_one_message(folder: Path, model: str, options: dict[str, Any], message: str) -> None:
    torch.jit.save(torch.jit.trace(any_model.Net().eval(), (IMAGES,)), folder / "theirs.ts")
    torch.onnx.export(torch.nn.ReLU(), (IMAGES,), str(folder / "theirs.onnx"), dynamo=False)
    with pytest.raises(ParityError) as raised:
        judged(model, "trace", **options)
    assert str(raised.value).count("\n  next:") == 1
    assert re.search(message, str(raised.value)), raised.value


def test_a_folder_that_transformers_wrote_is_a_model(folder: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=50, max_position_embeddings=32, **sizes)
    torch.manual_seed(0)
    transformers.BertModel(config).save_pretrained(folder / "bert")
    made = judged("bert", "trace")
    assert made.model.name == "bert"
    assert made.model.inputs[0] == "input_ids: int64[N, T in 1..32] in 0..49"
    assert made.record("trace@torchscript").numeric
    with pytest.raises(ModelError, match="no architecture") as raised:
        judged("bert/model.safetensors", "trace")
    assert "\n  next:    parity report bert" in str(raised.value)
