"""What is counted, and what a run that was interrupted goes on with."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.faults import results
from benchmarks.faults.architectures import ARCHITECTURES, QUICK
from benchmarks.faults.judging import Judged
from benchmarks.faults.results import HealthyCell, NetworkResult, PlantedFault
from benchmarks.faults.rules import RULES
from benchmarks.faults.summary import GATE, summarise
from benchmarks.faults.tables import tables

REFUSED = dict.fromkeys(RULES, True)
ACCEPTED = dict.fromkeys(RULES, False)
PASSED = Judged("pass", 2.0, 2.0, 2e-6, 1e-6, 1e-6, "rms/sample")
FAILED = Judged("fail", 30.0, 30.0, 3e-5, 1e-6, 1e-6, "rms/sample", "y: error 3e-05 is 30 floors")


def fault(name: str, judged: Judged = FAILED, effect: float = 1e-3) -> PlantedFault:
    return PlantedFault(name, "a-kind", "a family", 1, effect, judged, REFUSED)


def network(name: str = "resnet18", *faults: PlantedFault) -> NetworkResult:
    cells = (HealthyCell("onnx@x", PASSED, ACCEPTED), HealthyCell("trace@y", PASSED, ACCEPTED, like="eager"))
    return NetworkResult(name, name, cells, faults, {}, 1.0)


def test_found_missed_and_left_open_are_told_apart() -> None:
    open_ = replace(PASSED, verdict="inconclusive")
    summary = summarise([network("resnet18", fault("one"), fault("two", PASSED), fault("three", open_))])
    gate = summary.rules[0]
    assert (gate.rule, gate.found, gate.faults, gate.left_open) == (GATE, 1, 3, 1)
    assert [each.name for each in summary.missed] == ["two", "three"]
    assert {each.found for each in summary.rules[3:]} == {3}


def test_a_fault_without_effect_and_a_graph_that_does_not_run_are_not_counted() -> None:
    broken = PlantedFault("broken", "a-kind", "a family", 1, problem="it does not run")
    summary = summarise([network("resnet18", fault("none", PASSED, effect=1e-6), broken, fault("one"))])
    assert summary.rules[0].faults == 1
    assert [each.name for each in summary.without_effect] == ["none"]
    assert [each.name for each in summary.not_running] == ["broken"]


def test_healthy_cells_with_equal_outputs_count_once() -> None:
    summary = summarise([network()])
    assert summary.rules[0].healthy == 1
    assert summary.alike == 1


def test_a_refused_healthy_cell_is_a_false_alarm() -> None:
    alarmed = HealthyCell("onnx@x", FAILED, REFUSED)
    summary = summarise([replace(network(), cells=(alarmed,))])
    assert {each.alarms for each in summary.rules} == {1}
    assert summary.alarmed == (("resnet18", alarmed),)


def test_networks_that_round_are_counted_apart() -> None:
    rounding = next(each.name for each in ARCHITECTURES if each.rounds)
    summary = summarise([network("resnet18", fault("one")), network(rounding, fault("two", PASSED))])
    assert (summary.rules[0].found, summary.rules[0].faults) == (1, 1)
    assert (summary.apart[0].found, summary.apart[0].faults) == (0, 1)
    assert summary.architectures == 1


def test_errors_within_the_allowance_for_long_sums_count_at_no_limit() -> None:
    allowed = Judged("pass", 12.0, 0.0, 1e-6, 1e-7, 2e-6, "rms/sample")
    summary = summarise([network("resnet18", fault("one", allowed))])
    assert [each.found for each in summary.rules[:3]] == [0, 0, 0]


def test_every_table_can_be_printed() -> None:
    shown = [network("resnet18", fault("one"), fault("two", PASSED))]
    printed = io.StringIO()
    for table in tables(summarise(shown), shown):
        Console(width=200, file=printed).print(table)
    assert "under the limit" in printed.getvalue()
    assert "50.0" in printed.getvalue()


def test_finished_networks_are_gone_on_with_by_the_same_code_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kept.jsonl"
    assert results.kept(file) == {}
    made = network("resnet18", fault("one"), PlantedFault("broken", "a-kind", "a family", 1, problem="no"))
    results.keep(file, made)
    assert results.kept(file) == {"resnet18": made}
    assert len(file.read_text().splitlines()) == len([json.loads(line) for line in file.read_text().splitlines()]) == 1
    monkeypatch.setattr(results, "fingerprint", lambda: "other code")
    assert results.kept(file) == {}


def test_there_are_enough_architectures_and_quick_ones_are_among_them() -> None:
    names = [each.name for each in ARCHITECTURES]
    assert len(set(names)) == len(names)
    assert len({each.base for each in ARCHITECTURES if not each.rounds}) >= 20
    assert set(QUICK) <= set(names)
