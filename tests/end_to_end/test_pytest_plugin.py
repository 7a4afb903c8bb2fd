"""The pytest plugin, in a pytest of its own: selection, outcomes, JUnit, xdist, benchmarks."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

import parity
from tests.forked import AVAILABLE, run_forked

pytest_plugins = ("pytester",)

MODELS = """
import numpy as np
import torch
from torch import nn

import parity


def held_out():
    return {"x": np.random.default_rng(0).standard_normal((24, 6)).astype(np.float32)}


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        return self.head(x)


class Branching(Plain):
    def forward(self, x):
        scores = self.head(x)
        if bool(x.mean() > 0.0):
            scores = -scores
        return scores


parity.register("plain", input="x: float32[N, 6]", samples=held_out, targets=["trace", "script"])(Plain)
parity.register("branching", input="x: float32[N, 6]", samples=held_out, targets=["trace", "script"])(Branching)
"""

SUITE = """
def test_numerics(parity_case):
    parity_case.check_numerics()


def test_shapes(parity_case):
    parity_case.check_shapes()


def test_latency(parity_case, benchmark):
    parity_case.check_latency(benchmark)
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A project with two models and a suite; returns a function that runs pytest in it."""
    package = str(Path(parity.__file__).resolve().parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])]))
    pytester.makefile(".toml", parity='registry = ["models.py"]\n')
    pytester.makepyfile(models=MODELS, test_suite=SUITE)
    pytester.makeini("[pytest]")
    installed = any(entry.name == "parity" for entry in metadata.entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "parity.pytest_plugin"]

    def run(*arguments: str) -> pytest.RunResult:
        words = (*plugin, "-p", "no:cacheprovider", *arguments)
        if "-n" in arguments or not AVAILABLE:  # what xdist starts are interpreters
            return pytester.runpytest_subprocess(*words)
        ended = run_forked(pytest.console_main, ("pytest", *words), pytester.path, os.environ)
        return pytest.RunResult(ended.status, ended.stdout.splitlines(), ended.stderr.splitlines(), duration=0.0)

    return run


def test_every_model_at_every_target_is_a_test_that_can_be_selected(suite: Run) -> None:
    result = suite("--collect-only", "-q")
    ids = [line for line in result.outlines if "::" in line]
    assert len(ids) == 3 * 4
    assert "test_suite.py::test_numerics[plain-trace@torchscript]" in ids
    chosen = suite("--collect-only", "-q", "-k", "numerics and plain and trace")
    assert [line for line in chosen.outlines if "::" in line] == [
        "test_suite.py::test_numerics[plain-trace@torchscript]"
    ]
    narrowed = suite("--collect-only", "-q", "--parity-model", "plain", "--parity-target", "script")
    assert {re.sub(r".*\[", "", line) for line in narrowed.outlines if "::" in line} == {"plain-script@torchscript]"}


def test_a_name_that_is_not_known_is_one_message(suite: Run) -> None:
    for option, name, meant in (("--parity-model", "plane", "plain"), ("--parity-target", "trcae", "trace")):
        result = suite(option, name)
        assert result.ret == pytest.ExitCode.INTERRUPTED
        result.stdout.fnmatch_lines([f"*there is no * '{name}'*", f"*did you mean '{meant}'?*"])
        result.stdout.no_fnmatch_line("*suite.py:*")


def test_a_model_that_tracing_breaks_fails_and_the_other_passes_under_xdist_too(
    suite: Run, pytester: pytest.Pytester
) -> None:
    result = suite("-n", "2", "--dist", "loadgroup", "--junitxml", "junit.xml", "-k", "numerics or shapes")
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] >= 1, outcomes
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    why = "likely because *.py:25 reads a tensor's value into Python: trace keeps the branch that its example took"
    result.stdout.fnmatch_lines(["*branching at trace@torchscript: *floors*", why])
    cases = ET.parse(pytester.path / "junit.xml").getroot().iter("testcase")  # noqa: S314  # written by the line above
    found = {str(case.get("name")): [child.tag for child in case] for case in cases}
    assert len(found) == 8
    assert found["test_numerics[branching-trace@torchscript]"] == ["failure"]
    healthy = [name for name in found if "branching-trace" not in name]
    assert all(found[name] == [] for name in healthy), found


def test_what_is_benchmarked_is_the_workers_own_time(suite: Run, pytester: pytest.Pytester) -> None:
    timed = ("--parity-model", "plain", "--parity-target", "script", "-k", "latency", "--benchmark-storage=stored")
    result = suite(*timed, "--benchmark-json=b.json", "--benchmark-save=before")
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()
    (benchmark,) = json.loads((pytester.path / "b.json").read_text())["benchmarks"]
    assert benchmark["extra_info"]["target"] == "script@torchscript"
    assert benchmark["extra_info"]["ratio"] > 0
    # One call of a linear layer. A burst alone takes 20 ms, and asking a worker for it takes longer still.
    assert 0 < benchmark["stats"]["median"] < 0.02
    compared = suite(*timed, "--benchmark-compare=0001")
    assert compared.ret == pytest.ExitCode.OK, compared.stdout.str()
    for which in ("0001_before", "NOW"):
        compared.stdout.fnmatch_lines([f"*test_latency*script@torchscript* ({which})*"])


@pytest.mark.parametrize(("most", "outcome"), [(0.00001, "failed"), (1000.0, "passed")])
def test_a_batch_size_that_a_limit_names_is_timed_and_judged_as_well(
    suite: Run, pytester: pytest.Pytester, most: float, outcome: str
) -> None:
    limited = f"[models.plain.limits]\nmax_ms = {{ 1 = {most}, 8 = 1000.0 }}\n"
    quick = "[latency]\nseconds = 0.2\nmax_seconds = 0.2\n"
    pytester.makefile(".toml", parity='registry = ["models.py"]\n' + quick + limited)
    timed = ("--parity-model", "plain", "--parity-target", "script", "-k", "latency", "--benchmark-json=b.json")
    result = suite(*timed)
    result.assert_outcomes(**{outcome: 1})
    if outcome == "failed":
        result.stdout.fnmatch_lines(
            ["*plain at script@torchscript: batch 1: * ms a call in the median, at most 1e-05 *"]
        )
    (benchmark,) = json.loads((pytester.path / "b.json").read_text())["benchmarks"]
    assert (benchmark["group"], benchmark["extra_info"]["batch"]) == ("plain, batch 8", 8)


TODAY = dt.datetime.now(dt.timezone.utc).date()
LAST_DAY = TODAY + dt.timedelta(days=30)


def waivers(pytester: pytest.Pytester, *given: tuple[str, str, dt.date, str]) -> None:
    """Settings with waivers: model, target, last day, and more lines."""
    tables = [
        f'[[waivers]]\nmodel = "{model}"\ntarget = "{target}"\nreason = "known"\nexpires = {day}\n{more}'
        for model, target, day, more in given
    ]
    pytester.makefile(".toml", parity="\n".join(['registry = ["models.py"]', *tables]))


def outcomes(suite: Run, pytester: pytest.Pytester, *arguments: str) -> dict[str, list[tuple[str, str]]]:
    """For each case its outcome, and the message, from JUnit's file."""
    suite("--junitxml", "junit.xml", "-k", "numerics or shapes", "--parity-target", "trace", *arguments)
    cases = ET.parse(pytester.path / "junit.xml").getroot().iter("testcase")  # noqa: S314  # written by the line above
    return {str(case.get("name")): [(child.tag, str(child.get("message"))) for child in case] for case in cases}


def test_a_waived_failure_is_a_skipped_test_and_other_tests_are_as_they_were(
    suite: Run, pytester: pytest.Pytester
) -> None:
    waivers(pytester, ("branching", "trace", LAST_DAY, ""))
    found = outcomes(suite, pytester)
    (skipped,) = found["test_numerics[branching-trace@torchscript]"]
    assert skipped[0] == "skipped"
    assert f"waived until {LAST_DAY}: known; without it: fail: " in skipped[1]
    assert "floors" in skipped[1]
    assert found["test_shapes[branching-trace@torchscript]"][0][0] == "skipped"
    assert [found[f"test_{check}[plain-trace@torchscript]"] for check in ("numerics", "shapes")] == [[], []]


def test_an_expired_waiver_and_one_that_is_not_needed_are_failed_tests(suite: Run, pytester: pytest.Pytester) -> None:
    yesterday = TODAY - dt.timedelta(days=1)
    waivers(pytester, ("branching", "trace", yesterday, ""), ("plain", "trace", LAST_DAY, ""))
    found = outcomes(suite, pytester)
    ((kind, message),) = found["test_numerics[branching-trace@torchscript]"]
    assert kind == "failure"
    assert f"the waiver of trace@torchscript expired on {yesterday}: known" in message
    assert "floors" in message
    ((kind, message),) = found["test_numerics[plain-trace@torchscript]"]
    assert kind == "failure"
    assert "remove the waiver of trace@torchscript, it is not needed any more" in message
    assert found["test_shapes[plain-trace@torchscript]"] == []


def test_a_waiver_for_one_check_is_looked_at_by_that_check_alone(suite: Run, pytester: pytest.Pytester) -> None:
    waivers(
        pytester,
        ("plain", "trace", LAST_DAY, 'check = "latency"'),
        ("plain", "trace", LAST_DAY, 'check = "shapes"'),
        ("branching", "trace", LAST_DAY, 'check = "latency"'),
    )
    found = outcomes(suite, pytester)
    assert found["test_numerics[plain-trace@torchscript]"] == []
    assert "remove the waiver" in found["test_shapes[plain-trace@torchscript]"][0][1]
    assert found["test_numerics[branching-trace@torchscript]"][0][0] == "failure"


def test_a_waiver_for_a_model_that_nobody_registers_is_one_message(suite: Run, pytester: pytest.Pytester) -> None:
    waivers(pytester, ("plane", "trace", LAST_DAY, ""))
    result = suite()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*there is no model 'plane'*", "*did you mean 'plain'?*"])
