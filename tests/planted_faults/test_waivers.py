"""Waivers through the command: the fault fails without one, and no waiver outlives its day or its need."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from parity.models.spec import Limits
from parity.records import Stage, Symptom, Verdict, WaiverState
from tests.end_to_end.background import Background, background
from tests.end_to_end.command import Project, Ran
from tests.planted_faults import zoo
from tests.planted_faults.artifacts import make_samples

SETTINGS = """
[models.branches]
factory = "zoo.py:Branches"
input = "x: float32[N, 12]"
samples = "heldout.npz"
targets = ["trace", "script"]
"""
TODAY = dt.datetime.now(dt.timezone.utc).date()
LAST_DAY = TODAY + dt.timedelta(days=60)


def waiver(target: str, expires: dt.date = LAST_DAY, *more: str) -> str:
    given = ('model = "branches"', f'target = "{target}"', 'reason = "known"', f"expires = {expires}", *more)
    return "\n".join(["[[waivers]]", *given])


WAIVERS = {
    "none": "[models.branches.target_limits.script]\nratio = 1e9",
    "live": waiver("trace"),
    "expired": waiver("trace", TODAY - dt.timedelta(days=1)),
    "needless": waiver("trace") + "\n" + waiver("script"),
    "narrowed": waiver("trace", LAST_DAY, 'output = "output"'),
    "of something else": waiver("trace", LAST_DAY, 'check = "latency"') + "\n" + waiver("onnx"),
    "unknown target": waiver("trcae"),
    "unknown model": waiver("trace").replace("branches", "branchs"),
    "a year": waiver("trace", TODAY + dt.timedelta(days=500)),
    "wrong limits": '[models.branches.target_limits."trace@torchscrip"]\nratio = 20',
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Background]:
    """One project for each of the settings above."""
    root = tmp_path_factory.mktemp("waivers")
    with background({name: partial(_run, root, name) for name in WAIVERS}) as started:
        yield started


def _run(root: Path, name: str) -> Ran:
    folder = root / name.replace(" ", "-")
    folder.mkdir()
    shutil.copy(zoo.__file__, folder / "zoo.py")
    np.savez(folder / "heldout.npz", x=make_samples(120, seed=1))
    (folder / "parity.toml").write_text(f"{SETTINGS}\n{WAIVERS[name]}\n")
    return Project(folder).report("branches")


def test_the_fault_fails_without_a_waiver_and_its_healthy_twin_passes(runs: Background) -> None:
    assert runs["none"].status == 1
    assert runs["none"].record("trace").verdict is Verdict.FAIL
    assert runs["none"].record("script").verdict is Verdict.PASS
    assert runs["none"].record("trace").waivers == ()


@pytest.mark.parametrize("name", ["live", "narrowed"])
def test_under_a_live_waiver_it_is_skipped_and_the_release_passes(runs: Background, name: str) -> None:
    assert runs[name].status == 0, runs[name].text
    record = runs[name].record("trace")
    assert (record.verdict, record.stage, record.symptom) == (Verdict.SKIP, Stage.COMPARE, Symptom.MISMATCH)
    assert record.message.startswith(f"waived until {LAST_DAY}: known; without it: fail: ")
    assert "floors" in record.message
    assert record.waivers[0].state is WaiverState.WAIVED
    assert any(each.verdict is Verdict.FAIL for each in record.numeric)
    assert "1 waived (trace@torchscript)" in runs[name].stdout
    for page in ("report.html", "report.md"):
        assert f"waived until {LAST_DAY}: known" in (runs[name].out / page).read_text(encoding="utf-8")


def test_an_expired_waiver_fails_and_is_named_with_its_last_day(runs: Background) -> None:
    assert runs["expired"].status == 1
    message = runs["expired"].record("trace").message
    assert message.startswith(f"the waiver of trace@torchscript expired on {TODAY - dt.timedelta(days=1)}: known")
    assert "floors" in message


def test_a_waiver_that_is_not_needed_fails_the_target_that_passed(runs: Background) -> None:
    assert runs["needless"].status == 1
    assert runs["needless"].record("trace").verdict is Verdict.SKIP
    record = runs["needless"].record("script")
    assert record.verdict is Verdict.FAIL
    assert "remove the waiver of script@torchscript, it is not needed any more" in record.message
    assert all(each.verdict is Verdict.PASS for each in record.numeric)


def test_a_waiver_of_something_else_covers_nothing_and_is_left_alone(runs: Background) -> None:
    ran = runs["of something else"]
    assert ran.status == 1
    assert ran.record("trace").verdict is Verdict.FAIL
    assert "waiver" not in ran.record("trace").message


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("unknown target", "did you mean 'trace'"),
        ("unknown model", "did you mean 'branches'"),
        ("a year", "a waiver holds for a year at most"),
        ("wrong limits", "did you mean 'torchscript'"),
    ],
)
def test_settings_that_cannot_be_meant_end_in_two(runs: Background, name: str, said: str) -> None:
    assert runs[name].status == 2
    assert said in runs[name].stderr
    assert "Traceback" not in runs[name].stderr


def test_the_limits_of_one_target_hold_for_it_alone_and_are_in_the_report(runs: Background) -> None:
    assert runs["none"].record("script").numeric[0].limit == 1e9
    assert runs["none"].record("trace").numeric[0].limit == 10.0
    settings = runs["none"].report.settings
    assert settings["limits"] == Limits().given()
    assert settings["target_limits"]["script"]["ratio"] == 1e9
    assert runs["live"].report.settings["waivers"] == {"trace@torchscript": f"until {LAST_DAY}: known"}


def test_explain_shows_the_waiver(runs: Background) -> None:
    live = runs["live"]
    shown = Project(live.out.parent).run("explain", "parity-report/report.json", "trace")
    assert f"waived: trace@torchscript until {LAST_DAY}: known; without it fail" in " ".join(shown.stdout.split())
