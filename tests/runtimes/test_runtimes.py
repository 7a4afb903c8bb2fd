"""Sessions feed inputs by name, name outputs as the reference does, and never use another device silently."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from torch import nn

from parity.artifacts import Artifact, Manifest
from parity.errors import ParityError
from parity.runtimes import RUNTIMES, SessionOptions
from parity.runtimes.calls import positional
from parity.runtimes.modules import ModuleSession
from parity.runtimes.onnxruntime import OnnxRuntime
from parity.runtimes.torch import eager_session

X, Y = np.asarray([5.0, 7.0], np.float32), np.asarray([1.0, 2.0], np.float32)


def subtraction(folder: Path, inputs: Sequence[str] = ("a", "b"), outputs: Sequence[str] = ("d",)) -> Artifact:
    """A graph that takes its second input from its first."""
    value = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N"]) for name in (*inputs, *outputs)}
    nodes = [helper.make_node("Sub", list(inputs), [outputs[0]])]
    nodes += [helper.make_node("Neg", [outputs[0]], [name]) for name in outputs[1:]]
    graph = helper.make_graph(nodes, "g", [value[name] for name in inputs], [value[name] for name in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "m.onnx")
    return Artifact(folder, Manifest("onnx", "onnx", "float", "m.onnx"))


def onnx_outputs(artifact: Artifact, names: tuple[str, ...]) -> dict[str, Any]:
    session = OnnxRuntime().open(artifact, SessionOptions(1, names))
    found = session.run(dict(zip(names, (X, Y), strict=True)))
    return {name: array.tolist() for name, array in found.items()}


def test_inputs_are_fed_by_name_whatever_the_order_of_the_graph(tmp_path: Path) -> None:
    assert onnx_outputs(subtraction(tmp_path, ("b", "a")), ("a", "b")) == {"d": [-4, -5]}


def test_inputs_that_go_by_other_names_are_fed_in_the_order_of_forward_and_the_report_says_so(tmp_path: Path) -> None:
    artifact = subtraction(tmp_path, ("input.1", "input.2"))
    assert onnx_outputs(artifact, ("a", "b")) == {"d": [4, 5]}
    facts = OnnxRuntime().open(artifact, SessionOptions(1, ("a", "b"))).facts
    assert facts["inputs"] == "matched by position: input.1 is a, input.2 is b"


def test_names_that_are_the_models_own_are_not_remarked_upon(tmp_path: Path) -> None:
    assert "inputs" not in OnnxRuntime().open(subtraction(tmp_path), SessionOptions(1, ("a", "b"))).facts


def test_an_input_that_the_graph_never_reads_may_be_missing_from_it(tmp_path: Path) -> None:
    session = OnnxRuntime().open(subtraction(tmp_path, ("a", "a2")), SessionOptions(1, ("a", "a2", "unused")))
    assert session.run({"a": X, "a2": Y, "unused": X})["d"].tolist() == [4, 5]


def test_a_graph_with_other_inputs_altogether_is_refused_with_both_lists(tmp_path: Path) -> None:
    with pytest.raises(ParityError, match="do not match") as caught:
        OnnxRuntime().open(subtraction(tmp_path), SessionOptions(1, ("x", "y", "z")))
    assert caught.value.allowed == "x, y, z"
    assert caught.value.got == "a: float32[?], b: float32[?]"


def named(artifact: Artifact, *outputs: str) -> Artifact:
    return Artifact(artifact.folder, Manifest("onnx", "onnx", "float", "m.onnx", outputs))


def test_outputs_are_called_as_the_manifest_says_or_as_the_graph_does(tmp_path: Path) -> None:
    artifact = subtraction(tmp_path, outputs=("d", "e"))
    assert list(onnx_outputs(named(artifact, "one", "two"), ("a", "b"))) == ["one", "two"]
    assert list(onnx_outputs(named(artifact), ("a", "b"))) == ["d", "e"]
    assert onnx_outputs(named(artifact, "e", "d"), ("a", "b")) == {"d": [4, 5], "e": [-4, -5]}


def test_a_name_that_the_graph_has_is_kept_and_only_the_others_go_by_position(tmp_path: Path) -> None:
    artifact = subtraction(tmp_path, outputs=("d", "e"))
    assert onnx_outputs(named(artifact, "other", "d"), ("a", "b")) == {"d": [4, 5], "other": [-4, -5]}
    facts = OnnxRuntime().open(named(artifact, "other", "d"), SessionOptions(1, ("a", "b"))).facts
    assert facts["outputs"] == "matched by position: e is other"


def test_a_module_that_has_lost_the_names_of_its_outputs_is_given_them_by_position() -> None:
    session = ModuleSession(lambda x: (x, -x), positional(("x",)), "cpu", outputs=("left", "right"))
    assert {name: array.tolist() for name, array in session.run({"x": X}).items()} == {
        "left": [5, 7],
        "right": [-5, -7],
    }
    own = ModuleSession(lambda x: {"one": x, "two": -x}, positional(("x",)), "cpu", outputs=("left", "right"))
    assert list(own.run({"x": X})) == ["one", "two"]


def test_a_sequence_is_refused_by_name(tmp_path: Path) -> None:
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])
    sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("SequenceConstruct", ["x"], ["s"])], "g", [value], [sequence])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    artifact = Artifact(tmp_path, Manifest("onnx", "onnx", "float", "m.onnx"))
    session = OnnxRuntime().open(artifact, SessionOptions(1, ("x",)))
    with pytest.raises(ParityError, match="the output 's' is a list, not a tensor"):
        session.run({"x": X})


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU to be used")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_device_that_is_not_really_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParityError, match="asked for CUDAExecutionProvider and uses CPUExecutionProvider"):
        OnnxRuntime().open(subtraction(tmp_path), SessionOptions(1, ("a", "b"), "cuda"))


@pytest.mark.parametrize("name", RUNTIMES.names())
def test_a_damaged_artifact_does_not_open(name: str, tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b"nothing of the kind")
    kind = min(RUNTIMES.get(name).formats)
    with pytest.raises(Exception):  # noqa: B017, PT011  # each runtime raises its own
        RUNTIMES.get(name).open(Artifact(tmp_path, Manifest("x", kind, "float", "m")), SessionOptions(1, ("x",)))


class Subtract(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        assert not a.requires_grad
        return a - b


def test_a_module_gets_its_inputs_in_the_order_of_forward() -> None:
    session = ModuleSession(Subtract(), positional(("a", "b")), "cpu")
    assert session.run({"b": Y, "a": X})["output"].tolist() == [4, 5]


def test_the_reference_is_a_session_with_the_threads_that_it_is_given() -> None:
    before = torch.get_num_threads()
    try:
        session = eager_session(Subtract(), SessionOptions(1, ("a", "b")))
        assert torch.get_num_threads() == 1
        assert session.run({"a": X, "b": Y})["output"].tolist() == [4, 5]
    finally:
        torch.set_num_threads(before)


def test_every_runtime_reads_some_format_and_says_whether_it_is_there() -> None:
    for name in RUNTIMES:
        assert RUNTIMES.get(name).formats
        assert str(RUNTIMES.get(name).availability())


def test_outputs_that_only_their_position_names_are_said_and_doubtful_where_their_shapes_are_one() -> None:
    alike = ModuleSession(lambda x: (x, -x), positional(("x",)), "cpu", outputs=("left", "right"))
    apart = ModuleSession(lambda x: (x, x.sum()), positional(("x",)), "cpu", outputs=("left", "sum"))
    for session in (alike, apart):
        session.run({"x": X})
        session.run({"x": X})
    assert alike.facts["outputs"] == "matched by position: output_0 is left, output_1 is right"
    assert "'output_0', 'output_1' were taken for 'left', 'right'" in alike.doubts["outputs"]
    assert apart.facts["outputs"] == "matched by position: output_0 is left, output_1 is sum"
    assert apart.doubts == {}
