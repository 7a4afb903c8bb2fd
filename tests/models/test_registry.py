from __future__ import annotations

from pathlib import Path

import pytest
from torch import nn

from parity.errors import UsageError
from parity.models import registry
from parity.models.registry import known_models, register, settings_models
from parity.models.spec import Limits, ModelSpec
from parity.registry import Registry
from parity.settings import Settings


def factory() -> nn.Module:
    return nn.Linear(1, 1)


def held_out() -> dict[str, list[float]]:
    return {"x": [0.0]}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Registry[ModelSpec]:
    fresh: Registry[ModelSpec] = Registry("model")
    monkeypatch.setattr(registry, "REGISTERED", fresh)
    return fresh


def settings(root: Path, **table: object) -> Settings:
    return Settings.model_validate({"root": root, **table})


def test_a_registered_factory_stays_as_it_was_and_is_known_by_reference(registered: Registry[ModelSpec]) -> None:
    decorated = register("net", input="x: float32[N]", samples=held_out, targets=["onnx"])(factory)
    assert decorated is factory
    spec = registered.get("net")
    assert spec.factory == f"{Path(__file__).resolve()}:factory"
    assert spec.samples == f"{Path(__file__).resolve()}:held_out"
    assert spec.targets == ("onnx",)


@pytest.mark.parametrize("name", ["", "a/b", "../up", "a b", ".hidden", "-x"])
def test_a_name_that_is_no_folders_name_is_refused_where_it_is_written(name: str) -> None:
    with pytest.raises(UsageError, match="also a folder"):
        register(name, input="x: float32[N]", samples="x.npz")


def test_a_wrong_signature_or_a_lambda_is_refused_where_it_is_written(registered: Registry[ModelSpec]) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        register("net", input="x float32", samples="x.npz")
    with pytest.raises(UsageError, match="cannot be registered"):
        register("net", input="x: float32[N]", samples=lambda: None)(factory)
    with pytest.raises(UsageError, match="cannot be registered"):
        register("net", input="x: float32[N]", samples="x.npz")(lambda: nn.Linear(1, 1))
    assert registered.names() == []


def test_files_that_the_settings_list_are_read_for_their_models(tmp_path: Path) -> None:
    (tmp_path / "listed_models.py").write_text(
        "import parity\nfrom torch import nn\n"
        "@parity.register('listed', input='x: float32[N, 2]', samples='x.npz')\n"
        "def net(): return nn.Linear(2, 2)\n"
    )
    known = known_models(settings(tmp_path, registry=["listed_models.py"]))
    assert known["listed"].root == tmp_path
    assert known["listed"].factory == f"{(tmp_path / 'listed_models.py').resolve()}:net"


def test_a_model_can_be_written_in_the_settings_alone(tmp_path: Path) -> None:
    table = {"plain": {"factory": "net.py:Net", "input": "x: float32[N]", "weights": "w.pt", "targets": ["onnx"]}}
    spec = settings_models(settings(tmp_path, models=table))["plain"]
    assert (spec.factory, spec.weights, spec.targets, spec.root) == ("net.py:Net", "w.pt", ("onnx",), tmp_path)


def test_the_narrowest_limit_counts_for_each_value_on_its_own(tmp_path: Path) -> None:
    register("net", input="x: float32[N]", samples="x.npz")(factory)
    table = {"net": {"limits": {"agreement": 0.9}, "target_limits": {"onnx": {"ratio": 30}}}}
    spec = known_models(settings(tmp_path, limits={"ratio": 5, "latency": 2}, models=table))["net"]
    assert spec.limits == Limits(ratio=5, agreement=0.9, latency=2)
    assert spec.limits_for("onnx@onnxruntime") == Limits(ratio=30, agreement=0.9, latency=2)
    assert spec.limits_for("trace@torchscript") == spec.limits


def test_limits_of_a_whole_target_go_before_those_of_its_exporter(tmp_path: Path) -> None:
    register("net", input="x: float32[N]", samples="x.npz")(factory)
    table = {"net": {"target_limits": {"onnx": {"ratio": 30}, "onnx@onnxruntime": {"ratio": 40}}}}
    spec = known_models(settings(tmp_path, models=table))["net"]
    assert spec.limits_for("onnx@onnxruntime").ratio == 40
    assert spec.limits_for("onnx@elsewhere").ratio == 30


def test_changes_that_are_none_leave_a_spec_as_it_is(registered: Registry[ModelSpec]) -> None:
    register("net", input="x: float32[N]", samples="x.npz")(factory)
    spec = registered.get("net")
    assert spec.with_changes(samples=None, labels="y.npy").samples == "x.npz"
    assert spec.with_changes(labels="y.npy").labels == "y.npy"


def test_what_users_act_on_can_be_written_for_every_output_or_by_name(registered: Registry[ModelSpec]) -> None:
    register("one", input="x: float32[N]", samples=held_out, decision="embedding")(factory)
    register("two", input="x: float32[N]", samples=held_out, decision={"logits": "classes", "aux": "none"})(factory)
    register("three", input="x: float32[N]", samples=held_out)(factory)
    assert registered.get("one").decision == (("*", "embedding"),)
    assert registered.get("two").decision == (("logits", "classes"), ("aux", "none"))
    assert registered.get("three").decision == ()


def test_a_decision_that_does_not_exist_is_refused_where_it_is_registered() -> None:
    with pytest.raises(UsageError, match="there is no decision 'embeddings'") as error:
        register("net", input="x: float32[N]", samples=held_out, decision="embeddings")
    assert "did you mean 'embedding'?" in str(error.value)


def test_settings_say_what_users_act_on_and_come_before_python(tmp_path: Path) -> None:
    register("net", input="x: float32[N]", samples=held_out, decision="classes")(factory)
    table = {"net": {"decision": {"output": "none"}}}
    assert known_models(settings(tmp_path, models=table))["net"].decision == (("output", "none"),)
    assert known_models(settings(tmp_path))["net"].decision == (("*", "classes"),)
    with pytest.raises(UsageError, match="there is no decision 'tokes'") as error:
        known_models(settings(tmp_path, models={"net": {"decision": "tokes"}}))
    assert "models.net.decision" in str(error.value)
    assert "'tokens'" in str(error.value)
