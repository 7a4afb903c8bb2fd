"""Both workflows parse, and every command of ours that they run exists."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.docs.shell import ROOT, problem, script_commands

yaml = pytest.importorskip("yaml", reason="PyYAML comes with pre-commit")

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def parsed(path: Path) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in parsed(path)["jobs"].values() for step in job["steps"]]


def step(name: str) -> dict[str, Any]:
    gate = ROOT / ".github" / "workflows" / "parity.yml"
    return next(each for each in steps(gate) if each.get("name") == name)


def run_step(name: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A step's script in a shell as a runner runs it, with `parity` and `python` as they are on the path."""
    base = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(name)["run"]],
        cwd=folder,
        env={**base, "REPORT": "parity-report", **environment},
        check=False,
        capture_output=True,
        text=True,
    )


def test_there_are_two() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "parity.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_command_exists(path: Path) -> None:
    commands = [command for each in steps(path) for command in script_commands(each.get("run", ""))]
    assert commands
    assert [f"{command}: {found}" for command in commands if (found := problem(command))] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_to_a_major_version(path: Path) -> None:
    used = [each["uses"] for each in steps(path) if "uses" in each]
    assert used
    assert [action for action in used if not action.rpartition("@v")[2].isdigit()] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_input_is_pasted_into_a_script(path: Path) -> None:
    assert [each["run"] for each in steps(path) if "${{" in each.get("run", "")] == []


def test_the_page_describes_every_input_with_its_default() -> None:
    gate = parsed(ROOT / ".github" / "workflows" / "parity.yml")
    inputs = gate[True]["workflow_call"]["inputs"]  # YAML 1.1 reads `on` as true
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    for name, about in inputs.items():
        default = {"": "none", "3.11": '`"3.11"`'}.get(about["default"], f"`{about['default']}`")
        assert f"| `{name}` | {default} |" in page


@pytest.mark.parametrize(
    ("suites", "reports", "undecided", "inconclusive", "expected"),
    [
        ("0", "0", False, "skip", 0),
        ("", "", False, "fail", 0),
        ("1", "0", False, "skip", 1),
        ("5", "", False, "skip", 1),
        ("0", "1", False, "skip", 1),
        ("0", "2", False, "skip", 1),
        ("0", "3", False, "skip", 0),
        ("0", "3", False, "fail", 1),
        ("0", "0", True, "skip", 0),
        ("0", "0", True, "fail", 1),
    ],
)
def test_the_gate_decides(
    tmp_path: Path, *, suites: str, reports: str, undecided: bool, inconclusive: str, expected: int
) -> None:
    (tmp_path / "parity-report").mkdir()
    skipped = '<skipped type="pytest.skip" message="inconclusive: too few samples"/>' if undecided else ""
    (tmp_path / "parity-report" / "junit.xml").write_text(f"<testsuites>{skipped}</testsuites>", encoding="utf-8")
    done = run_step("Decide", tmp_path, SUITES_STATUS=suites, REPORTS_STATUS=reports, INCONCLUSIVE=inconclusive)
    assert done.returncode == expected


@pytest.mark.parametrize(
    ("statuses", "expected"), [("0 0", "0"), ("0 3", "3"), ("3 1 0", "1"), ("2 3", "2"), ("2 1", "1"), ("1 2", "1")]
)
def test_the_worst_report_counts_and_summaries_are_kept(tmp_path: Path, statuses: str, expected: str) -> None:
    stand_in = tmp_path / "bin" / "parity"
    stand_in.parent.mkdir()
    script = '#!/bin/sh\nmkdir -p "$6"\necho "summary of $2" > "$6/report.md"\nexit "${2#*-}"\n'
    stand_in.write_text(script, encoding="utf-8")
    stand_in.chmod(0o755)
    done = run_step(
        "Report on the models",
        tmp_path,
        PATH=f"{stand_in.parent}:{os.environ['PATH']}",
        MODELS=" ".join(f"model{place}-{status}" for place, status in enumerate(statuses.split())),
        GOLDEN="golden",
        GITHUB_OUTPUT=str(tmp_path / "output"),
        GITHUB_STEP_SUMMARY=str(tmp_path / "summary"),
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "output").read_text(encoding="utf-8") == f"status={expected}\n"
    assert (tmp_path / "summary").read_text(encoding="utf-8").count("summary of") == len(statuses.split())


def test_a_misspelt_way_with_inconclusive_is_refused(tmp_path: Path) -> None:
    done = run_step("Install", tmp_path, INCONCLUSIVE="ignore", REQUIREMENTS="", EXTRAS="cpu")
    assert done.returncode == 2
    assert "allowed are skip and fail" in done.stdout
