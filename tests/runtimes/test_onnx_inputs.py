"""What an ONNX graph asks for is matched with the model, converted where that loses nothing unsaid, or refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from parity.arrays import dtype_name
from parity.artifacts import Artifact, Manifest
from parity.errors import ParityError
from parity.models.ports import Port
from parity.runtimes import Session, SessionOptions
from parity.runtimes.onnxruntime import OnnxRuntime

Value = tuple[str, int, list[int | str]]


def saved(
    folder: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    *weights: onnx.TensorProto,
    names: tuple[str, ...] = (),
) -> Artifact:
    values = [[helper.make_tensor_value_info(*each) for each in side] for side in (inputs, outputs)]
    graph = helper.make_graph(list(nodes), "g", *values, list(weights))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    return Artifact(folder, Manifest("m.onnx", "onnx", "float", "m.onnx", names))


def opened(artifact: Artifact, inputs: Sequence[Port], outputs: Sequence[Port] = ()) -> Session:
    names = tuple(port.name for port in inputs)
    return OnnxRuntime().open(artifact, SessionOptions(1, names, inputs=tuple(inputs), outputs=tuple(outputs)))


def identity(folder: Path, dtype: int, dims: list[int | str]) -> Artifact:
    node = helper.make_node("Identity", ["x"], ["y"])
    return saved(folder, [node], [("x", dtype, dims)], [("y", dtype, dims)])


def test_integers_that_fit_are_narrowed_and_the_report_says_so(tmp_path: Path) -> None:
    session = opened(identity(tmp_path, TensorProto.INT32, ["N"]), [Port("x", "int64", (None,))])
    assert session.run({"x": np.asarray([1, 2])})["y"].tolist() == [1, 2]
    assert session.facts["rounded"] == "inputs to int32: x"


def test_an_integer_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    session = opened(identity(tmp_path, TensorProto.INT32, ["N"]), [Port("x", "int64", (None,))])
    with pytest.raises(ParityError, match="input x is int32, and a sample holds a number that does not fit"):
        session.run({"x": np.asarray([2**40])})


def test_numbers_of_another_kind_are_refused_when_it_is_opened(tmp_path: Path) -> None:
    with pytest.raises(ParityError, match="input x has another dtype") as caught:
        opened(identity(tmp_path, TensorProto.INT64, ["N"]), [Port("x", "float32", (None,))])
    assert (caught.value.allowed, caught.value.got) == ("x: float32[?]", "x: int64[?]")


def test_bfloat16_goes_in_and_comes_out(tmp_path: Path) -> None:
    session = opened(identity(tmp_path, TensorProto.BFLOAT16, ["N", 2]), [Port("x", "float32", (None, 2))])
    found = session.run({"x": np.asarray([[1.0, 1.0 + 2**-10]], np.float32)})["y"]
    assert dtype_name(found) == "bfloat16"
    assert found.tolist() == [[1.0, 1.0]]
    assert session.facts["rounded"] == "inputs to bfloat16: x"


def test_an_input_with_a_default_is_left_at_it(tmp_path: Path) -> None:
    values: list[Value] = [("x", TensorProto.FLOAT, ["N"]), ("scale", TensorProto.FLOAT, [1])]
    weight = numpy_helper.from_array(np.asarray([3], np.float32), "scale")
    node = helper.make_node("Mul", ["x", "scale"], ["y"])
    session = opened(saved(tmp_path, [node], values, [("y", TensorProto.FLOAT, ["N"])], weight), [Port("x")])
    assert session.run({"x": np.asarray([2], np.float32)})["y"].tolist() == [6]


def test_an_input_without_a_default_that_the_model_has_not_is_refused_by_name(tmp_path: Path) -> None:
    values: list[Value] = [("x", TensorProto.FLOAT, ["N"]), ("scale", TensorProto.FLOAT, [1])]
    node = helper.make_node("Mul", ["x", "scale"], ["y"])
    with pytest.raises(ParityError, match=r"it asks for scale: float32\[1\]") as caught:
        opened(saved(tmp_path, [node], values, [("y", TensorProto.FLOAT, ["N"])]), [Port("x", "float32", (None,))])
    assert caught.value.allowed == "x: float32[?]"


def test_outputs_of_other_names_are_told_apart_by_shape_and_dtype(tmp_path: Path) -> None:
    nodes = [helper.make_node("Identity", ["x"], ["17"]), helper.make_node("ArgMax", ["x"], ["18"], axis=1, keepdims=0)]
    outputs: list[Value] = [("18", TensorProto.INT64, ["N"]), ("17", TensorProto.FLOAT, ["N", 2])]
    artifact = saved(tmp_path, nodes, [("x", TensorProto.FLOAT, ["N", 2])], outputs, names=("scores", "best"))
    known = [Port("scores", "float32", (None, 2)), Port("best", "int64", (None,))]
    session = opened(artifact, [Port("x", "float32", (None, 2))], known)
    found = session.run({"x": np.asarray([[1, 2]], np.float32)})
    assert {name: array.tolist() for name, array in found.items()} == {"scores": [[1, 2]], "best": [1]}
    assert session.facts["outputs"] == "matched by shape and dtype: 18 is best, 17 is scores"
    assert session.doubts == {}  # type: ignore[attr-defined]  # not every session has doubts


def test_outputs_that_nothing_tells_apart_are_doubtful(tmp_path: Path) -> None:
    nodes = [helper.make_node("Identity", ["x"], ["17"]), helper.make_node("Neg", ["x"], ["18"])]
    outputs: list[Value] = [("17", TensorProto.FLOAT, ["N"]), ("18", TensorProto.FLOAT, ["N"])]
    artifact = saved(tmp_path, nodes, [("x", TensorProto.FLOAT, ["N"])], outputs, names=("a", "b"))
    session = opened(
        artifact, [Port("x", "float32", (None,))], [Port("a", "float32", (None,)), Port("b", "float32", (None,))]
    )
    assert session.doubts["outputs"].startswith("the outputs '17', '18' were taken for 'a', 'b'")  # type: ignore[attr-defined]  # the same


def test_an_output_that_is_none_of_the_models_keeps_its_name(tmp_path: Path) -> None:
    nodes = [helper.make_node("Identity", ["x"], ["a"]), helper.make_node("Neg", ["x"], ["debug"])]
    outputs: list[Value] = [("debug", TensorProto.FLOAT, ["N"]), ("a", TensorProto.FLOAT, ["N"])]
    artifact = saved(tmp_path, nodes, [("x", TensorProto.FLOAT, ["N"])], outputs, names=("a",))
    assert list(opened(artifact, [Port("x")]).run({"x": np.asarray([1], np.float32)})) == ["debug", "a"]


def test_a_refused_size_is_named_with_what_the_graph_takes(tmp_path: Path) -> None:
    session = opened(identity(tmp_path, TensorProto.FLOAT, [1, "T"]), [Port("x", "float32", (None, None))])
    assert session.run({"x": np.ones((1, 5), np.float32)})["y"].shape == (1, 5)
    with pytest.raises(ParityError, match=r"the graph takes x: float32\[1, \?\], and was given \[2, 5\]"):
        session.run({"x": np.ones((2, 5), np.float32)})
