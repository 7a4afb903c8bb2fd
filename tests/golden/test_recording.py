"""What is recorded is what was measured, and nothing is replaced unasked."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from parity.environment import machine_class
from parity.errors import GoldenError
from parity.golden.baseline import latency_baseline
from parity.golden.files import OUTPUTS, read_golden
from parity.golden.record import LatencyRatio
from parity.golden.recording import record_golden
from parity.records import NumericResult, Record, ShapeResult, Stage, Symptom, Verdict

from . import made


@pytest.fixture
def bench(tmp_path: Path) -> made.MadeBench:
    return made.bench(tmp_path / "run", {"y": made.logits()})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "golden" / "net"


def test_digests_numbers_and_versions_are_recorded(bench: made.MadeBench, folder: Path) -> None:
    golden = record_golden(made.report(bench, made.record(1.23456, 0.99)), bench, folder)
    assert (golden.weights_sha256, golden.code_sha256) == ("a" * 64, "b" * 64)
    assert golden.samples_sha256 == bench.made.samples.sha256
    assert golden.kept_digests == tuple(bench.made.digests)
    assert golden.ratios == {made.TARGET: 1.235}
    assert golden.agreement == {made.TARGET: 0.99}
    assert golden.versions == {"torch": "2.6.0"}


_FAILED = {
    "crashed": made.record(verdict=Verdict.FAIL, stage=Stage.RUN, symptom=Symptom.CRASH),
    "wrong": made.record(
        verdict=Verdict.FAIL,
        stage=Stage.COMPARE,
        symptom=Symptom.MISMATCH,
        numeric=(NumericResult(output="y", rule="floor", ratio=500.0, verdict=Verdict.FAIL),),
    ),
    "wrong and slow": made.record(
        verdict=Verdict.FAIL,
        stage=Stage.TIME,
        symptom=Symptom.MISMATCH,
        shapes=(ShapeResult(batch=1, symptom=Symptom.MISMATCH, verdict=Verdict.FAIL),),
    ),
    "died while it was timed": made.record(verdict=Verdict.FAIL, stage=Stage.TIME, symptom=Symptom.EXCEPTION),
}


@pytest.mark.parametrize("record", _FAILED.values(), ids=_FAILED)
def test_a_target_that_failed_is_absent(bench: made.MadeBench, folder: Path, record: Record) -> None:
    golden = record_golden(made.report(bench, record), bench, folder)
    assert (golden.ratios, golden.agreement, golden.latency) == ({}, {}, {})


def test_a_target_that_is_only_slower_can_be_approved(bench: made.MadeBench, folder: Path) -> None:
    slow = made.record(
        verdict=Verdict.FAIL,
        stage=Stage.TIME,
        symptom=Symptom.MISMATCH,
        latency=(made.latency(2.0, verdict=Verdict.FAIL),),
    )
    golden = record_golden(made.report(bench, slow), bench, folder)
    assert golden.latency["this machine"][made.TARGET]["8"].ratio == 2.0


def test_what_was_not_measured_is_absent(bench: made.MadeBench, folder: Path) -> None:
    record = made.record(ratio=math.inf, decisions=(), latency=(made.latency(None), made.latency(0.5, batch=1)))
    golden = record_golden(made.report(bench, record), bench, folder)
    assert golden.ratios == {}
    assert golden.agreement == {}
    assert list(golden.latency["this machine"][made.TARGET]) == ["1"]


def test_another_class_of_machine_adds_its_latency(bench: made.MadeBench, folder: Path) -> None:
    record_golden(made.report(bench, made.record()), bench, folder)
    other = bench.changed(machine="another machine")
    report = made.report(other, made.record(latency=(made.latency(0.4),)))
    record_golden(report, other, folder, accept=True)
    golden = read_golden(folder)
    assert golden.latency["this machine"][made.TARGET]["8"] == LatencyRatio(ratio=0.7, low=0.69, high=0.71)
    assert golden.latency["another machine"][made.TARGET]["8"] == LatencyRatio(ratio=0.4, low=0.39, high=0.41)
    assert golden.machine == "another machine"


def test_the_same_class_replaces_its_latency_but_not_by_nothing(bench: made.MadeBench, folder: Path) -> None:
    record_golden(made.report(bench, made.record()), bench, folder)
    untimed = made.record(latency=())
    assert record_golden(made.report(bench, untimed), bench, folder, accept=True).latency["this machine"]
    timed = made.record(target="trace@torchscript")
    golden = record_golden(made.report(bench, timed), bench, folder, accept=True)
    assert list(golden.latency["this machine"]) == ["trace@torchscript"]


def test_the_baseline_of_the_latency_gate_is_this_machines(bench: made.MadeBench, folder: Path) -> None:
    here = bench.changed(machine=machine_class(1))
    golden = record_golden(made.report(here, made.record()), here, folder)
    baseline = latency_baseline(golden, made.TARGET, 8, machine_class(1))[0]
    assert baseline is not None
    assert baseline.ratio == 0.7
    assert latency_baseline(golden, made.TARGET, 1, machine_class(1))[0] is None
    assert latency_baseline(golden, made.TARGET, 8, machine_class(99))[0] is None


def test_an_existing_golden_is_refused_and_the_command_is_named(bench: made.MadeBench, folder: Path) -> None:
    record_golden(made.report(bench), bench, folder)
    with pytest.raises(GoldenError, match="already") as caught:
        record_golden(made.report(bench), bench, folder)
    assert "`parity golden accept net`" in str(caught.value.hint)


def test_an_unstable_reference_is_refused(bench: made.MadeBench, folder: Path) -> None:
    shaky = bench.changed(reference=replace(bench.made.reference, unstable="two runs differ in 'y'"))
    with pytest.raises(GoldenError, match="not deterministic") as caught:
        record_golden(made.report(shaky), shaky, folder)
    assert caught.value.got == "two runs differ in 'y'"
    assert not folder.exists()


def test_the_golden_of_another_model_is_not_replaced(bench: made.MadeBench, folder: Path) -> None:
    record_golden(made.report(bench), bench, folder)
    other = bench.changed(model=replace(bench.made.model, name="other"))
    with pytest.raises(GoldenError, match="another model"):
        record_golden(made.report(other), other, folder, accept=True)


def test_damaged_outputs_can_be_recorded_anew(bench: made.MadeBench, folder: Path) -> None:
    record_golden(made.report(bench, made.record()), bench, folder)
    (folder / OUTPUTS).write_bytes(b"")
    record_golden(made.report(bench), bench, folder, accept=True)
    assert read_golden(folder).latency["this machine"]
