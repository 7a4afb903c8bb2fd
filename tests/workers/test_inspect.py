from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from parity.errors import UsageError
from parity.workers.inspect import inspect_artifact

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


def test_lost_external_data_is_named(tmp_path: Path) -> None:
    path = onnx_model(tmp_path / "m.onnx", external=True)
    (tmp_path / "beside.data").unlink()
    with pytest.raises(UsageError, match="external data of this ONNX file is missing") as caught:
        inspect_artifact(path)
    assert caught.value.got == "no beside.data"


@pytest.mark.parametrize("kind", ["missing", "text", "empty", "checkpoint", "zip"])
def test_what_is_no_artifact_is_a_usage_error_that_names_it(tmp_path: Path, kind: str) -> None:
    import zipfile

    path = tmp_path / "file"
    if kind == "checkpoint":
        torch.save(nn.Linear(2, 2).state_dict(), path)
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a", "b")
    elif kind != "missing":
        path.write_text("some text" if kind == "text" else "")
    with pytest.raises(UsageError) as caught:
        inspect_artifact(path)
    assert caught.value.where == str(path)
