"""A file that ONNX Runtime refuses is held against what that runtime says it reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from parity.artifacts import Artifact, Manifest
from parity.errors import ParityError
from parity.runtimes import SessionOptions
from parity.runtimes.onnx_refused import newest_known, why_refused
from parity.runtimes.onnxruntime import OnnxRuntime

NEWEST = newest_known(["ai.onnx.ml"])


def model(path: Path, *, opset: int = 17, ir: int = 8, ml: int | None = None, domain: str = "") -> Path:
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
    nodes = [helper.make_node("Add", ["x", "w"], ["z"]), helper.make_node("Relu", ["z"], ["y"], domain=domain)]
    weight = numpy_helper.from_array(np.ones(2, np.float32), "w")
    opsets = [helper.make_opsetid("", opset)]
    opsets += [helper.make_opsetid("ai.onnx.ml", ml)] if ml else []
    opsets += [helper.make_opsetid(domain, 1)] if domain else []
    made = helper.make_model(helper.make_graph(nodes, "g", value[:1], value[1:], [weight]), opset_imports=opsets)
    made.ir_version = ir
    onnx.save(made, path, save_as_external_data=True, location="beside.data", size_threshold=0)
    return path


def opened(path: Path) -> None:
    OnnxRuntime().open(Artifact(path.parent, Manifest("m.onnx", "onnx", "float", path.name)), SessionOptions(1, ("x",)))


def test_the_runtime_is_asked_for_its_limits() -> None:
    assert NEWEST.version == onnxruntime.__version__
    assert NEWEST.ir >= 8
    assert NEWEST.opsets[""] >= 17
    assert NEWEST.opsets["ai.onnx.ml"] >= 3


def test_the_newest_that_it_reads_opens(tmp_path: Path) -> None:
    path = model(tmp_path / "m.onnx", opset=NEWEST.opsets[""], ir=NEWEST.ir, ml=NEWEST.opsets["ai.onnx.ml"])
    opened(path)
    assert why_refused(path) is None


def refused(path: Path) -> str:
    with pytest.raises(ParityError) as caught:
        opened(path)
    return caught.value.what


def test_an_opset_that_is_too_new_is_named_with_the_two_ways_on(tmp_path: Path) -> None:
    newest = NEWEST.opsets[""]
    said = refused(model(tmp_path / "m.onnx", opset=newest + 1))
    assert f"newer than ONNX Runtime {onnxruntime.__version__}" in said
    assert f"opset of ai.onnx {newest + 1} (known up to {newest})" in said
    assert said.endswith(f"export it with opset_version={newest}, or upgrade onnxruntime")


def test_an_opset_of_another_domain_counts_as_well(tmp_path: Path) -> None:
    assert "opset of ai.onnx.ml 77 (known up to" in refused(model(tmp_path / "m.onnx", ml=77))


def test_an_ir_version_that_is_too_new_is_named(tmp_path: Path) -> None:
    said = refused(model(tmp_path / "m.onnx", ir=NEWEST.ir + 1))
    assert f"IR version {NEWEST.ir + 1} (known up to {NEWEST.ir})" in said
    assert "an older onnx, or upgrade onnxruntime" in said


def test_an_operator_that_nothing_implements_is_named_with_its_domain(tmp_path: Path) -> None:
    assert "no implementation of com.acme::Relu" in refused(model(tmp_path / "m.onnx", domain="com.acme"))


def test_external_data_that_is_missing_is_named(tmp_path: Path) -> None:
    path = model(tmp_path / "m.onnx")
    (tmp_path / "beside.data").unlink()
    assert "there is no beside.data beside it" in refused(path)


def test_external_data_that_is_too_short_is_measured(tmp_path: Path) -> None:
    path = model(tmp_path / "m.onnx")
    (tmp_path / "beside.data").write_bytes(b"1234")
    assert "the graph reads 8 bytes, and the file has 4" in refused(path)


def test_a_file_that_is_cut_off_is_told_from_one_that_is_not_understood(tmp_path: Path) -> None:
    path = model(tmp_path / "m.onnx")
    path.write_bytes(path.read_bytes()[:40])
    assert "cannot be read: DecodeError" in refused(path)
