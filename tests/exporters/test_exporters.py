"""Every exporter makes what its runtime opens, at batch sizes that it was not shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from parity.artifacts import MODULE, Artifact
from parity.errors import Unsupported
from parity.exporters import EXPORTERS
from parity.exporters.shapes import dynamic_axes, export_dims
from parity.models.programs import load_program
from parity.models.signature import parse_signature
from parity.runtimes import RUNTIMES, SessionOptions
from tests.exporters.jobs import Tiny, exported, images, job

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


@dataclass(frozen=True)
class Done:
    """One export, which several tests look at."""

    module: nn.Module
    before: dict[str, torch.Tensor]
    artifact: Artifact


@pytest.fixture(scope="module", params=[name for name in EXPORTERS.names() if EXPORTERS.get(name).format != MODULE])
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Done:
    if not (available := EXPORTERS.get(request.param).availability()):
        pytest.skip(str(available))
    module = Tiny().eval()
    before = {key: value.clone() for key, value in module.state_dict().items()}
    folder = tmp_path_factory.mktemp(request.param) / "made"
    return Done(module, before, exported(request.param, job(folder, module)))


def test_what_is_exported_is_opened_and_answers_as_the_model_does(done: Done) -> None:
    manifest = done.artifact.manifest
    assert manifest.files
    runtime = RUNTIMES.get(EXPORTERS.get(manifest.exporter).runtime)
    session = runtime.open(done.artifact, SessionOptions(1, ("image",)))
    assert session.facts
    tolerance = 1e-5 if manifest.precision == "float" else 0.1
    for batch in (1, 3, 8):
        inputs = images(batch, seed=batch)
        with torch.inference_mode():
            expected = Tiny().eval()(torch.from_numpy(inputs)).numpy()
        outputs = session.run({"image": inputs})
        assert list(outputs) == ["output"]
        assert outputs["output"].dtype == np.float32
        error = np.abs(outputs["output"] - expected).max() / np.abs(expected).max()
        assert error < tolerance
        assert manifest.precision == "float" or error > 0


def test_an_export_leaves_the_model_as_it_was(done: Done) -> None:
    assert [type(each) for each in done.module.children()] == [nn.Conv2d, nn.Linear]
    assert all(torch.equal(done.before[key], value) for key, value in done.module.state_dict().items())
    assert not any(each.training for each in done.module.modules())


@pytest.mark.parametrize("name", ["int8-static", "onnx-int8-static"])
def test_static_quantization_without_calibration_is_unsupported(name: str, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="needs calibration samples"):
        exported(name, job(tmp_path / "made", calibration=None))


class Doubles(nn.Module):
    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return image * 2


@pytest.mark.parametrize("name", ["int8-dynamic", "onnx-int8-dynamic"])
def test_a_quantizer_that_finds_nothing_to_do_does_not_pass_for_one_that_did(name: str, tmp_path: Path) -> None:
    with pytest.raises(Unsupported):
        exported(name, job(tmp_path / "made", Doubles()))


class Optional(Tiny):
    """Branches on an optional argument that no input is given for."""

    def forward(self, image: torch.Tensor, embed: bool = False) -> torch.Tensor:  # noqa: FBT001, FBT002  # what users write
        hidden = torch.relu(self.conv(image)).flatten(1)
        if embed:
            return hidden
        scores: torch.Tensor = self.linear(hidden)
        return scores


def test_an_optional_argument_without_an_input_keeps_no_model_from_being_quantized(tmp_path: Path) -> None:
    assert exported("int8-static", job(tmp_path / "made", Optional())).manifest.precision == "int8"


class KeywordOnly(Tiny):
    """Has an optional argument that cannot be passed by position."""

    def forward(self, image: torch.Tensor, *, scale: torch.Tensor | None = None) -> torch.Tensor:
        hidden = torch.relu(self.conv(image)).flatten(1)
        scores: torch.Tensor = self.linear(hidden if scale is None else hidden * scale)
        return scores


@pytest.mark.parametrize("name", [name for name in EXPORTERS.names() if name != "script"])
def test_an_optional_keyword_keeps_no_model_from_being_exported(name: str, tmp_path: Path) -> None:
    """But for TorchScript's compiler, which takes no keyword-only arguments with defaults."""
    assert exported(name, job(tmp_path / "made", KeywordOnly())).manifest.files


@pytest.mark.parametrize("name", ["export", "onnx", "int8-dynamic", "int8-static"])
def test_what_works_on_source_does_not_apply_to_torchscript(name: str, tmp_path: Path) -> None:
    scripted = torch.jit.script(Tiny().eval())
    with pytest.raises(Unsupported, match="the model is TorchScript"):
        exported(name, job(tmp_path / "made", scripted))


@pytest.mark.parametrize("name", ["trace", "onnx-torchscript"])
def test_torchscript_is_exported_where_it_can_be(name: str, tmp_path: Path) -> None:
    assert exported(name, job(tmp_path / "made", torch.jit.script(Tiny().eval()))).manifest.files


def test_an_exported_program_has_no_source_to_compile(tmp_path: Path) -> None:
    torch.export.save(torch.export.export(Tiny().eval(), (torch.zeros(2, 2, 6, 6),)), tmp_path / "m.pt2")
    program = load_program(tmp_path / "m.pt2")
    with pytest.raises(Unsupported, match="has no source"):
        exported("script", job(tmp_path / "script", program))
    assert exported("trace", job(tmp_path / "trace", program)).manifest.files


class Branches(nn.Module):
    """Answers differently for a large input, which only a compiler of the source can see."""

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        if bool(image.sum() > 0):
            return image
        return -image


@pytest.mark.parametrize(("name", "keeps"), [("trace", False), ("script", True)])
def test_a_trace_bakes_in_what_python_decided_and_a_script_does_not(name: str, tmp_path: Path, *, keeps: bool) -> None:
    artifact = exported(name, job(tmp_path / "made", Branches(), example=(torch.ones(2, 2, 6, 6),)))
    session = RUNTIMES.get("torchscript").open(artifact, SessionOptions(1, ("image",)))
    answer = session.run({"image": -np.ones((2, 2, 6, 6), np.float32)})["output"]
    assert bool(np.greater(answer, 0).all()) is keeps


class Partly(nn.Module):
    """Part of it is TorchScript, as where a team's model has one that another team shipped."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.jit.script(Tiny().eval())

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.inner(image)
        return scores * 2


@pytest.mark.parametrize("name", ["trace", "script", "onnx-torchscript"])
def test_a_model_that_holds_torchscript_is_exported_all_the_same(name: str, tmp_path: Path) -> None:
    module = Partly().eval()
    artifact = exported(name, job(tmp_path / "made", module))
    session = RUNTIMES.get(EXPORTERS.get(name).runtime).open(artifact, SessionOptions(1, ("image",)))
    inputs = images(3, seed=5)
    expected = module(torch.from_numpy(inputs)).detach().numpy()
    assert np.allclose(session.run({"image": inputs})["output"], expected, rtol=1e-4, atol=1e-5)


class Named(nn.Module):
    def forward(self, image: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"image": image + 1, "scores": image.mean((1, 2, 3))}


@pytest.mark.parametrize("name", ["onnx", "onnx-torchscript", "trace", "export"])
def test_outputs_keep_the_names_of_the_reference_even_an_inputs(name: str, tmp_path: Path) -> None:
    artifact = exported(name, job(tmp_path / "made", Named(), outputs=("image", "scores")))
    session = RUNTIMES.get(EXPORTERS.get(name).runtime).open(artifact, SessionOptions(1, ("image",)))
    inputs = images(3, seed=5)
    outputs = session.run({"image": inputs})
    assert set(outputs) == {"image", "scores"}
    assert np.allclose(outputs["image"], np.add(inputs, 1), rtol=1e-6)
    assert np.allclose(outputs["scores"], np.mean(inputs, axis=(1, 2, 3)), rtol=1e-4, atol=1e-6)  # type: ignore[arg-type]  # floats by construction


def test_weights_beside_an_onnx_model_are_part_of_the_artifact(tmp_path: Path) -> None:
    names = set(exported("onnx", job(tmp_path / "made")).manifest.files)
    assert names == {path.name for path in (tmp_path / "made").iterdir()}
    assert "model.onnx.data" in names


def test_a_symbol_is_one_dimension_wherever_it_is_used() -> None:
    first, second = export_dims(parse_signature(["x: float32[N, T in 2..64]", "m: bool[N, T]"]))
    assert first[0] is second[0]
    assert first[1] is second[1]
    assert (first[1].min, first[1].max) == (2, 64)


def test_fixed_dimensions_are_left_out_and_axes_are_named() -> None:
    signature = parse_signature(["x: float32[N, 3, T]", "m: bool[N, 4]"])
    assert [sorted(dims) for dims in export_dims(signature)] == [[0, 2], [0]]
    assert dynamic_axes(signature, ("y",)) == {"x": {0: "N", 2: "T"}, "m": {0: "N"}, "y": {0: "N"}}
    assert "y" not in dynamic_axes(parse_signature("x: float32[1, T]"), ("y",))


def test_every_exporter_says_what_changes_its_result() -> None:
    for name in EXPORTERS:
        assert all(isinstance(value, str) for value in EXPORTERS.get(name).options().values())
        assert EXPORTERS.get(name).precision in ("float", "int8")
