"""`parity diff`: what it says, and its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from parity.cli import app
from parity.records import Report, Verdict
from parity.reports import schema
from tests.diffing import made

Diff = Callable[..., Result]


@pytest.fixture
def diff(tmp_path: Path) -> Diff:
    """Write two reports and compare them."""

    def run(old: Report, new: Report, *options: str) -> Result:
        for name, report in (("old", old), ("new", new)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "report.json").write_text(schema.to_json(report), encoding="utf-8")
        return CliRunner().invoke(app, ["diff", str(tmp_path / "old"), str(tmp_path / "new"), *options])

    return run


def failing() -> Report:
    return made.with_record(verdict=Verdict.FAIL, message="logits: 31 floors")


@pytest.mark.parametrize(
    ("old", "new", "status", "word"),
    [
        (made.report(), made.report(), 0, "SAME"),
        (failing(), made.report(), 0, "BETTER"),
        (made.report(), failing(), 1, "WORSE"),
        (made.report(), made.with_record(verdict=Verdict.INCONCLUSIVE), 3, "CANNOT BE TOLD"),
    ],
)
def test_the_exit_status_says_what_became_of_it(diff: Diff, old: Report, new: Report, status: int, word: str) -> None:
    ran = diff(old, new)
    assert ran.exit_code == status
    assert ran.stdout.splitlines()[-1].startswith(f"{word}: ")


def test_json_goes_to_standard_output_alone(diff: Diff) -> None:
    ran = diff(made.report(), failing(), "--json")
    assert ran.exit_code == 1
    read = json.loads(ran.stdout)
    assert read["verdict"] == "worse"
    assert {"target", "what", "where", "old", "new", "verdict", "detail"} <= set(read["changes"][1])


def test_markdown_is_for_a_comment(diff: Diff) -> None:
    ran = diff(made.report(), failing(), "--markdown")
    assert ran.exit_code == 1
    assert ran.stdout.startswith("## parity diff: ❌ worse\n")


def test_all_lists_what_has_not_changed(diff: Diff) -> None:
    ran = diff(made.report(), made.report(), "--all")
    assert "The same (" in ran.stdout
    assert "not listed" not in ran.stdout


def test_one_output_at_a_time(diff: Diff) -> None:
    ran = diff(made.report(), made.report(), "--json", "--markdown")
    assert ran.exit_code == 2
    assert "--json or --markdown" in ran.stderr


def test_a_report_of_an_older_version_has_less_and_is_compared_by_what_it_has(diff: Diff, tmp_path: Path) -> None:
    """What only the newer one measured is information, and nothing that cannot be told."""
    ran = diff(made.report(), made.report())
    assert ran.exit_code == 0
    path = tmp_path / "old" / "report.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    for name in ("golden", "message"):
        data.pop(name)
    for record in data["records"]:
        for name in ("behaviour", "budgets", "startup", "sweep", "waivers", "explanations", "worst_samples"):
            record.pop(name)
    for each in (data["reference"], *data["records"]):
        each.pop("hazards", None)
    path.write_text(json.dumps(data), encoding="utf-8")
    again = CliRunner().invoke(app, ["diff", str(tmp_path / "old"), str(tmp_path / "new")])
    assert again.exit_code == 0, again.stdout


@pytest.mark.parametrize("side", ["old", "new"])
def test_a_damaged_report_is_named(diff: Diff, tmp_path: Path, side: str) -> None:
    diff(made.report(), made.report())
    damaged = tmp_path / side / "report.json"
    damaged.write_text(damaged.read_text(encoding="utf-8")[:-200], encoding="utf-8")
    ran = CliRunner().invoke(app, ["diff", str(tmp_path / "old"), str(tmp_path / "new")])
    assert ran.exit_code == 2
    assert str(damaged) in ran.stderr
    assert "Traceback" not in ran.output


def test_a_report_that_is_not_there_is_a_wrong_request(tmp_path: Path) -> None:
    ran = CliRunner().invoke(app, ["diff", str(tmp_path / "old"), str(tmp_path / "new")])
    assert ran.exit_code == 2
    assert "there is no such report" in ran.stderr
