"""Every command on a project that is as it should be."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from parity import __version__
from parity.records import Report, Verdict
from parity.reports.schema import from_json
from tests.end_to_end.background import Background, background
from tests.end_to_end.command import Project, Ran
from tests.forked import run_code

SCRIPT = """
import json
import sys

import parity
from parity.reports.schema import to_json

{guard}
    made = parity.report("tiny", latency=False)
    print(to_json(made))
"""


@pytest.fixture(scope="module")
def runs(project: Project) -> Iterator[Background]:
    """Reports that do not wait for each other, once there is one whose artifacts are in the cache."""
    project = dataclasses.replace(project, cache_name=".cache-commands")
    first = dataclasses.replace(project, fresh=True).report("tiny", out="first")
    assert first.status == 0, first.text
    commands = {
        "cached": lambda: project.report("tiny", out="second"),
        "artifacts": lambda: project.report(
            "net.pt", "--arch", "model.py:Net", "--input", "x: float32[N, 6]", "--samples", "heldout.npz",
            "--artifact", "model.onnx", "--artifact", "scripted.pt", out="elsewhere",
        ),
        "in process": lambda: project.report("tiny", "--in-process", "--target", "trace", out="in-process"),
        "script": lambda: script(project, 'if __name__ == "__main__":'),
        "no guard": lambda: script(dataclasses.replace(project, fresh=True), "if True:"),
    }  # fmt: skip
    with background(commands) as started:
        yield started


def script(project: Project, guard: str) -> Ran:
    """Run a script of the user's that calls `parity.report`."""
    code = SCRIPT.format(guard=guard)
    if not project.fresh:
        ended = run_code(code, folder=project.folder, environment=project.environment())
        return Ran(ended.status, ended.stdout, ended.stderr, project.folder)
    (project.folder / "script.py").write_text(code)
    ran = subprocess.run(
        [sys.executable, "script.py"], cwd=project.folder, env=project.environment(), capture_output=True, text=True,
        timeout=240, check=False,
    )  # fmt: skip
    return Ran(ran.returncode, ran.stdout, ran.stderr, project.folder)


def facts(report: Report) -> list[tuple[object, ...]]:
    """What must be the same whoever asks."""
    return [
        (each.target, each.verdict, each.stage, each.symptom, [number.ratio for number in each.numeric],
         [(shape.batch, shape.verdict) for shape in each.shapes], each.export and each.export.sha256)
        for each in report.records
    ]  # fmt: skip


def test_a_second_run_exports_nothing_and_finds_the_same(runs: Background, project: Project) -> None:
    second = runs["cached"]
    first = from_json((project.folder / "first" / "report.json").read_text())
    assert [each.export is not None and each.export.cached for each in first.records] == [False, False]
    assert [each.export is not None and each.export.cached for each in second.report.records] == [True, True]
    assert facts(second.report) == facts(first)


def test_a_report_is_three_files_and_the_artifacts_that_it_speaks_of(runs: Background, project: Project) -> None:
    ran = runs["cached"]
    names = {path.name for path in ran.out.iterdir()}
    assert names == {"report.json", "report.html", "report.md", "artifacts"}
    for record in ran.report.records:
        assert record.export is not None
        assert record.export.path is not None
        assert (project.folder / record.export.path).is_file()


def test_report_json_holds_no_null_and_names_its_schema(runs: Background) -> None:
    text = (runs["cached"].out / "report.json").read_text()
    assert json.loads(text)["schema"] == "parity-report/1"
    assert "null" not in text


def test_artifacts_made_elsewhere_are_judged_without_exporting_anything(runs: Background) -> None:
    ran = runs["artifacts"]
    assert ran.status == 0, ran.text
    report = ran.report
    assert [each.target for each in report.records] == ["model.onnx@onnxruntime", "scripted.pt@torchscript"]
    assert all(each.verdict is Verdict.PASS for each in report.records)
    assert "parity: export" not in ran.stderr
    assert not list((ran.out / "artifacts").rglob("artifact.json"))


def test_in_process_finds_what_children_find(runs: Background) -> None:
    assert runs["in process"].status == 0, runs["in process"].text
    mine, theirs = facts(runs["in process"].report)[0], facts(runs["cached"].report)[0]
    assert mine[:6] == theirs[:6]


def test_a_script_finds_what_the_command_finds(runs: Background) -> None:
    ran = runs["script"]
    assert ran.status == 0, ran.text
    assert facts(from_json(ran.stdout)) == facts(runs["cached"].report)


def test_a_script_without_a_main_guard_runs_once(runs: Background) -> None:
    ran = runs["no guard"]
    assert ran.status == 0, ran.text
    assert facts(from_json(ran.stdout)) == facts(runs["cached"].report)


def test_a_call_from_within_a_child_is_refused_with_what_to_write(project: Project) -> None:
    environment = project.environment() | {"PARITY_CHILD": "1"}
    code = 'import parity; parity.report("tiny")'
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=project.folder, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert 'put the call under `if __name__ == "__main__":`' in ran.stderr


def test_explain_shows_one_target_of_a_report(runs: Background, project: Project) -> None:
    assert runs["cached"].status == 0
    ran = project.run("explain", "second", "trace")
    assert ran.status == 0, ran.text
    assert "trace@torchscript" in ran.stdout
    assert "floor" in ran.stdout


def test_explain_offers_the_nearest_target_of_a_report(runs: Background, project: Project) -> None:
    assert runs["cached"].status == 0
    ran = project.run("explain", "second", "scrypt")
    assert ran.status == 2
    assert "did you mean" in ran.stderr
    assert "Traceback" not in ran.text


def test_diff_finds_nothing_between_two_runs_of_the_same_thing(runs: Background, project: Project) -> None:
    """They were not timed, and everything else of them is repeatable."""
    assert runs["cached"].status == 0
    ran = project.run("diff", "first", "second")
    assert ran.status == 0, ran.text
    assert ran.stdout.splitlines()[-1].startswith("SAME: tiny: ")
    assert "Not shared" not in ran.stdout


def test_targets_lists_every_exporter_and_runtime_with_its_version(project: Project) -> None:
    ran = project.run("targets")
    assert ran.status == 0, ran.text
    for words in ("trace@torchscript", "onnx-int8-static@onnxruntime", "floor", "decisions", "exported-program"):
        assert words in ran.stdout


def test_models_lists_what_is_registered(project: Project) -> None:
    ran = project.run("models")
    assert ran.status == 0, ran.text
    assert "tiny" in ran.stdout
    assert "x: float32[N, 6]" in ran.stdout


def test_init_writes_what_it_says_and_overwrites_nothing(project: Project) -> None:
    (project.folder / "new").mkdir()
    ran = project.run("init", "new")
    assert ran.status == 0, ran.text
    written = {Path(line.removeprefix("wrote ")) for line in ran.stdout.splitlines()}
    assert written == {Path("new/parity.toml"), Path("new/suites/test_parity.py")}
    before = (project.folder / "new" / "parity.toml").read_text()
    again = project.run("init", "new")
    assert again.status == 2
    assert "exists already" in again.stderr
    assert (project.folder / "new" / "parity.toml").read_text() == before


def test_version_is_the_packages(project: Project) -> None:
    assert dataclasses.replace(project, fresh=True).run("--version").stdout.strip() == f"parity {__version__}"


def test_help_loads_nothing_heavy(project: Project) -> None:
    code = (
        "import runpy, sys\n"
        "sys.argv = ['parity', '--help']\n"
        "try:\n"
        "    runpy.run_module('parity', run_name='__main__', alter_sys=True)\n"
        "except SystemExit as end:\n"
        "    status = end.code\n"
        "heavy = {'torch', 'numpy', 'scipy', 'plotly', 'pydantic', 'onnx', 'onnxruntime', 'jinja2'}\n"
        "print(status, sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=project.folder, env=project.environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert ran.stderr.strip() == "0 []"
    assert "report" in ran.stdout


def test_records_of_a_report_are_whole_when_read_back(runs: Background) -> None:
    report = runs["cached"].report
    assert report.samples.n == 40
    assert report.reference.oracle == "float64"
    assert {field.name for field in dataclasses.fields(report)} >= {"environment", "model", "samples", "records"}
