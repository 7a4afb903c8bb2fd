"""The pytest plugin, in a pytest of its own: selection, outcomes, JUnit, xdist, benchmarks."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

import parity

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
        return pytester.runpytest_subprocess(*plugin, "-p", "no:cacheprovider", *arguments)

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
    result.stdout.fnmatch_lines(["*branching at trace@torchscript: *floors*"])
    cases = ET.parse(pytester.path / "junit.xml").getroot().iter("testcase")  # noqa: S314  # written by the line above
    found = {str(case.get("name")): [child.tag for child in case] for case in cases}
    assert len(found) == 8
    assert found["test_numerics[branching-trace@torchscript]"] == ["failure"]
    healthy = [name for name in found if "branching-trace" not in name]
    assert all(found[name] == [] for name in healthy), found


def test_what_is_benchmarked_is_the_workers_own_time(suite: Run, pytester: pytest.Pytester) -> None:
    result = suite("--parity-model", "plain", "--parity-target", "script", "-k", "latency", "--benchmark-json=b.json")
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()
    (benchmark,) = json.loads((pytester.path / "b.json").read_text())["benchmarks"]
    assert benchmark["extra_info"]["target"] == "script@torchscript"
    assert benchmark["extra_info"]["ratio"] > 0
    # One call of a linear layer. A burst alone takes 20 ms, and asking a worker for it takes longer still.
    assert 0 < benchmark["stats"]["median"] < 0.02
