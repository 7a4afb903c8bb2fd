from __future__ import annotations

from pathlib import Path

import pytest

from parity.artifacts import Artifact, Manifest
from parity.errors import SettingsError, UnknownName, UsageError
from parity.exporters import EXPORTERS, on_request
from parity.exporters.onnx import OnnxExporter
from parity.exporters.trace import TraceExporter
from parity.registry import Availability
from parity.runtimes import RUNTIMES
from parity.runtimes.onnxruntime import OnnxRuntime
from parity.settings import LimitSettings, ModelSettings, Settings
from parity.targets import Target, check_target_limits, foreign_target, parse_target, plan_targets, target_in_settings


def test_an_exporter_alone_means_its_default_runtime() -> None:
    assert parse_target("onnx") == parse_target("onnx@onnxruntime") == Target("onnx", "onnxruntime", requested=True)
    assert parse_target("int8-static").name == "int8-static@torch"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("onx", "did you mean 'onnx'"),
        ("onnx@onnxruntim", "did you mean 'onnxruntime'"),
        ("@onnxruntime", "known: "),
        ("onnx@", "known: "),
    ],
)
def test_an_unknown_half_is_told_with_the_nearest_name(text: str, hint: str) -> None:
    with pytest.raises(UnknownName) as caught:
        parse_target(text)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(hint)


def test_a_runtime_that_does_not_read_the_format_is_refused_with_one_that_does() -> None:
    with pytest.raises(UsageError, match="torchscript does not read what onnx makes") as caught:
        parse_target("onnx@torchscript")
    assert (caught.value.got, caught.value.hint) == ("onnx", "onnx@onnxruntime")


def test_every_exporter_has_a_default_runtime_that_reads_what_it_makes() -> None:
    for name in EXPORTERS:
        assert parse_target(name).name == f"{name}@{EXPORTERS.get(name).runtime}"


def test_every_entry_goes_by_the_name_that_it_is_registered_under() -> None:
    assert [EXPORTERS.get(name).name for name in EXPORTERS] == EXPORTERS.names()
    assert [RUNTIMES.get(name).name for name in RUNTIMES] == RUNTIMES.names()


def test_every_source_is_an_exporter() -> None:
    sources = {EXPORTERS.get(name).source for name in EXPORTERS} - {None}
    assert sources <= set(EXPORTERS.names())


def test_the_default_plan_is_every_exporter_but_those_on_request_and_nothing_of_it_was_asked_for() -> None:
    plan = plan_targets(None)
    assert [target.exporter for target in plan] == [name for name in EXPORTERS if not on_request(EXPORTERS.get(name))]
    assert not any(target.requested for target in plan)


def test_requested_targets_keep_their_order_and_are_planned_once() -> None:
    plan = plan_targets(["trace", "onnx", "trace@torchscript"])
    assert [target.name for target in plan] == ["trace@torchscript", "onnx@onnxruntime"]
    assert all(target.requested for target in plan)


def test_a_target_is_unavailable_for_the_reason_of_its_first_missing_part(monkeypatch: pytest.MonkeyPatch) -> None:
    target = parse_target("onnx-int8-dynamic")
    assert target.availability()
    monkeypatch.setattr(OnnxExporter, "availability", lambda _: Availability(reason="no onnxscript"))
    assert str(target.availability()) == "unavailable: no onnxscript"
    monkeypatch.setattr(OnnxRuntime, "availability", lambda _: Availability(reason="no onnxruntime"))
    assert str(target.availability()) == "unavailable: no onnxruntime"
    assert parse_target("trace").availability()


def foreign(kind: str) -> Artifact:
    return Artifact(Path("folder"), Manifest("model.ts.pt", kind, "float", "model.ts.pt"))


def test_a_file_made_elsewhere_runs_where_it_can_be_read_and_needs_no_exporter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TraceExporter, "availability", lambda _: Availability(reason="not needed"))
    target = foreign_target(Path("there/model.ts.pt"), foreign("torchscript"), None)
    assert target.name == "model.ts.pt@torchscript"
    assert target.availability()


@pytest.mark.parametrize(("kind", "runtime"), [("onnx", "torchscript"), ("tflite", None), ("onnx", "nowhere")])
def test_a_file_that_nothing_reads_is_refused(kind: str, runtime: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        foreign_target(Path("model.bin"), foreign(kind), runtime)
    assert caught.value.got == kind


def test_a_target_in_the_settings_is_one_that_exists() -> None:
    assert target_in_settings("onnx", "here") == "onnx@onnxruntime"
    assert target_in_settings("trace@torchscript", "here") == "trace@torchscript"
    assert target_in_settings("net.onnx", "here") == "net.onnx"
    for text, meant in (("onxn", "onnx"), ("trace@torchscrip", "torchscript"), ("trace@onnxruntime", "trace@")):
        with pytest.raises(SettingsError) as caught:
            target_in_settings(text, "here")
        assert meant in (caught.value.hint or "")
        assert caught.value.where == "here"


def test_limits_of_a_target_that_nobody_knows_are_a_settings_error() -> None:
    def settings(target: str) -> Settings:
        return Settings(root=Path(), models={"digits": ModelSettings(target_limits={target: LimitSettings(ratio=20)})})

    check_target_limits(settings("onnx"))
    check_target_limits(settings("onnx@onnxruntime"))
    with pytest.raises(SettingsError) as caught:
        check_target_limits(settings("onnx-int8-statc"))
    assert caught.value.where == "models.digits.target_limits.onnx-int8-statc"
    assert "did you mean 'onnx-int8-static'" in (caught.value.hint or "")
