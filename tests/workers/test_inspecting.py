from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import safetensors.numpy
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from parity.errors import UsageError
from parity.runtimes import SessionOptions
from parity.runtimes.onnxruntime import OnnxRuntime
from parity.workers.inspecting import inspect_artifact

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def onnx_model(path: Path, op: str = "Relu", *, external: bool = False) -> Path:
    nodes = [helper.make_node("Add", ["x", "w"], ["z"]), helper.make_node(op, ["z"], ["y"])]
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
    weights = numpy_helper.from_array(np.ones(2, np.float32), "w")
    model = helper.make_model(helper.make_graph(nodes, "g", value[:1], value[1:], [weights]))
    onnx.save(model, path, save_as_external_data=external, location="beside.data", size_threshold=0)
    return path


def test_a_torchscript_file_is_told_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "anything.bin"
    torch.jit.save(torch.jit.script(nn.Linear(2, 2)), path)
    manifest = inspect_artifact(path).manifest
    assert (manifest.format, manifest.precision, manifest.entry) == ("torchscript", "float", "anything.bin")
    assert list(manifest.files) == ["anything.bin"]


def test_a_quantized_torchscript_file_is_judged_as_int8(tmp_path: Path) -> None:
    quantized = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(2, 2)), {nn.Linear})
    torch.jit.save(torch.jit.script(quantized), tmp_path / "q.pt")
    assert inspect_artifact(tmp_path / "q.pt").manifest.precision == "int8"


@pytest.mark.parametrize(("dtype", "precision"), [(torch.float16, "float16"), (torch.bfloat16, "bfloat16")])
def test_a_torchscript_file_in_a_reduced_precision_is_told_by_its_weights(
    tmp_path: Path, dtype: torch.dtype, precision: str
) -> None:
    torch.jit.save(torch.jit.script(nn.Linear(2, 2).to(dtype)), tmp_path / "half.pt")
    assert inspect_artifact(tmp_path / "half.pt").manifest.precision == precision


def test_an_onnx_file_in_float16_is_told_by_most_of_its_weights(tmp_path: Path) -> None:
    model = onnx.load(onnx_model(tmp_path / "m.onnx"))
    half = numpy_helper.from_array(np.ones(3, np.float16), "half")
    model.graph.initializer.append(half)
    onnx.save(model, tmp_path / "m.onnx")
    assert inspect_artifact(tmp_path / "m.onnx").manifest.precision == "float16"
    model.graph.initializer.append(numpy_helper.from_array(np.ones(9, np.float32), "single"))
    onnx.save(model, tmp_path / "m.onnx")
    assert inspect_artifact(tmp_path / "m.onnx").manifest.precision == "float"


def test_an_exported_program_is_told_by_its_content(tmp_path: Path) -> None:
    torch.export.save(torch.export.export(nn.Linear(2, 2), (torch.zeros(2, 2),)), tmp_path / "m.pt2")
    assert inspect_artifact(tmp_path / "m.pt2").manifest.format == "exported-program"


def test_an_onnx_file_covers_its_external_data(tmp_path: Path) -> None:
    manifest = inspect_artifact(onnx_model(tmp_path / "m.onnx", external=True)).manifest
    assert (manifest.format, manifest.precision) == ("onnx", "float")
    assert sorted(manifest.files) == ["beside.data", "m.onnx"]


def test_other_files_beside_an_artifact_are_none_of_it(tmp_path: Path) -> None:
    (tmp_path / "unrelated").write_text("")
    assert list(inspect_artifact(onnx_model(tmp_path / "m.onnx")).manifest.files) == ["m.onnx"]


def test_an_onnx_file_with_quantized_operators_is_judged_as_int8(tmp_path: Path) -> None:
    assert inspect_artifact(onnx_model(tmp_path / "q.onnx", "DynamicQuantizeLinear")).manifest.precision == "int8"


def test_lost_external_data_is_a_problem_of_the_artifact_and_no_wrong_request(tmp_path: Path) -> None:
    path = onnx_model(tmp_path / "m.onnx", external=True)
    (tmp_path / "beside.data").unlink()
    manifest = inspect_artifact(path).manifest
    assert manifest.problem
    assert "no beside.data beside it" in manifest.problem
    assert list(manifest.files) == ["m.onnx"]


def test_external_data_that_is_too_short_is_a_problem_and_the_right_one_is_none(tmp_path: Path) -> None:
    path = onnx_model(tmp_path / "m.onnx", external=True)
    assert inspect_artifact(path).manifest.problem is None
    (tmp_path / "beside.data").write_bytes(b"1234")
    assert "the graph reads 8 bytes, and the file has 4" in str(inspect_artifact(path).manifest.problem)


def test_external_data_that_is_too_long_is_noted_and_proves_nothing(tmp_path: Path) -> None:
    path = onnx_model(tmp_path / "m.onnx", external=True)
    (tmp_path / "beside.data").write_bytes(bytes(20))
    manifest = inspect_artifact(path).manifest
    assert manifest.problem is None
    assert manifest.notes[-1] == "beside.data has 20 bytes, and the graph reads 8 of them"


def test_external_data_outside_of_the_folder_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    path = onnx_model(tmp_path / "inner" / "m.onnx", external=True)
    model = onnx.load(path, load_external_data=False)
    model.graph.initializer[0].external_data[0].value = "../beside.data"
    path.write_bytes(model.SerializeToString())
    assert "lies outside of its folder" in str(inspect_artifact(path).manifest.problem)


def test_weights_of_inner_graphs_may_be_external_as_well(tmp_path: Path) -> None:
    path = onnx_model(tmp_path / "m.onnx", external=True)
    weight = onnx.load(path, load_external_data=False).graph.initializer[0]
    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    branch = helper.make_graph([helper.make_node("Identity", ["w"], ["y"])], "b", [], [value], [weight])
    given = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    onnx.save(helper.make_model(helper.make_graph([node], "g", [given], [value])), path)
    assert sorted(inspect_artifact(path).manifest.files) == ["beside.data", "m.onnx"]


def test_the_versions_of_an_onnx_file_are_noted(tmp_path: Path) -> None:
    (note,) = inspect_artifact(onnx_model(tmp_path / "m.onnx")).manifest.notes
    assert note.startswith("opset ")
    assert "IR version" in note


@pytest.mark.parametrize("kind", ["cut off", "no graph"])
def test_a_damaged_onnx_file_is_a_problem_where_its_name_says_what_it_is(tmp_path: Path, kind: str) -> None:
    path = onnx_model(tmp_path / "m.onnx")
    path.write_bytes(path.read_bytes()[:60] if kind == "cut off" else onnx.ModelProto(ir_version=8).SerializeToString())
    manifest = inspect_artifact(path).manifest
    assert manifest.format == "onnx"
    assert "damaged or cut off" in str(manifest.problem)
    other = path.rename(tmp_path / "m.bin")
    with pytest.raises(UsageError, match="no artifact"):
        inspect_artifact(other)


def test_a_damaged_archive_is_a_problem_and_the_healthy_one_is_none(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    module = nn.Linear(64, 64)
    torch.jit.save(torch.jit.script(module), path)
    assert inspect_artifact(path).manifest.problem is None
    content = bytearray(path.read_bytes())
    content[content.index(module.weight.detach().numpy().tobytes())] ^= 1
    path.write_bytes(content)
    assert "the archive is damaged" in str(inspect_artifact(path).manifest.problem)


def test_a_file_in_onnx_runtimes_own_format_is_read(tmp_path: Path) -> None:
    settings = onnxruntime.SessionOptions()
    settings.optimized_model_filepath = str(tmp_path / "m.ort")
    settings.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(str(onnx_model(tmp_path / "m.onnx")), settings, providers=["CPUExecutionProvider"])
    artifact = inspect_artifact((tmp_path / "m.ort").rename(tmp_path / "m.bin"))
    assert (artifact.manifest.format, artifact.manifest.precision) == ("ort", "float")
    session = OnnxRuntime().open(artifact, SessionOptions(1, ("x",)))
    assert session.run({"x": np.ones(2, np.float32)})["y"].tolist() == [2, 2]


def test_a_folder_stands_for_the_only_artifact_in_it(tmp_path: Path) -> None:
    path = onnx_model(tmp_path / "m.onnx", external=True)
    (tmp_path / "README").write_text("of the model")
    assert inspect_artifact(tmp_path).manifest.entry == "m.onnx"
    torch.jit.save(torch.jit.script(nn.Linear(2, 2)), tmp_path / "m.ts")
    with pytest.raises(UsageError, match="several artifacts") as caught:
        inspect_artifact(tmp_path)
    assert caught.value.got == "m.onnx, m.ts"
    for each in (path, tmp_path / "m.ts"):
        each.unlink()
    with pytest.raises(UsageError, match="holds no artifact") as caught:
        inspect_artifact(tmp_path)
    assert caught.value.got == "README, beside.data"


STRANGERS: dict[str, tuple[bytes, str]] = {
    "m.tflite": (b"\x1c\0\0\0TFL3" + bytes(40), "a TensorFlow Lite model"),
    "m.pte": (b"\x1c\0\0\0ET12" + bytes(40), "an ExecuTorch program"),
    "m.engine": (b"ftrt" + bytes(40), "a TensorRT engine"),
    "m.plan": (b"\x07\x08" + bytes(40), "a TensorRT engine"),
    "m.mlmodel": (b"\x08\x05\x12" + bytes(40), "a Core ML model"),
    "m.xml": (b'<?xml version="1.0"?>\n<net name="m" version="11">', "an OpenVINO model"),
    "m.h5": (b"\x89HDF\r\n\x1a\n" + bytes(40), "an HDF5 file"),
    "m.so": (b"\x7fELF" + bytes(40), "a compiled library"),
    "m.gguf": (b"GGUF" + bytes(40), "a GGUF model"),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_another_format_is_called_what_it_is_with_the_formats_that_are_read(tmp_path: Path, name: str) -> None:
    content, what = STRANGERS[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=what) as caught:
        inspect_artifact(tmp_path / name)
    assert "no runtime here reads it" in caught.value.what
    assert "onnx" in str(caught.value.allowed)


@pytest.mark.parametrize(("marker", "what"), [("saved_model.pb", "SavedModel"), ("Data/com.apple.CoreML", "Core ML")])
def test_a_folder_that_is_another_format_is_called_what_it_is(tmp_path: Path, marker: str, what: str) -> None:
    path = tmp_path / marker
    path.parent.mkdir(exist_ok=True)
    path.mkdir() if path.parent != tmp_path else path.write_bytes(b"")
    with pytest.raises(UsageError, match=what):
        inspect_artifact(tmp_path)


NOTHING: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the model file is empty"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "a git-lfs pointer"),
    "page": (b"<!DOCTYPE html>\n<html><head>", "a web page"),
    "text": ("some text, and what it costs: 5 €".encode(), "text"),
    "cut": (b"PK\x03\x04" + bytes(60), "a zip archive without its directory"),
    "pickle": (b"\x80\x02}q\x00.", "holds weights and no program"),
    "tensors": (safetensors.numpy.save({"w": np.ones(2)}), "holds weights and no program"),
}


@pytest.mark.parametrize("kind", NOTHING)
@pytest.mark.parametrize("suffix", [".onnx", ".pt", ""])
def test_what_is_no_artifact_is_called_what_it_is_whatever_its_suffix(tmp_path: Path, kind: str, suffix: str) -> None:
    content, what = NOTHING[kind]
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="this file is no artifact") as caught:
        inspect_artifact(path)
    assert what in str(caught.value.got)
    assert caught.value.where == str(path)


@pytest.mark.parametrize("kind", ["missing", "checkpoint", "zip"])
def test_a_path_to_nothing_a_checkpoint_and_a_zip_are_usage_errors_that_name_them(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    if kind == "checkpoint":
        torch.save(nn.Linear(2, 2).state_dict(), path)
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a", "b")
    with pytest.raises(UsageError) as caught:
        inspect_artifact(path)
    assert caught.value.where == str(path)
