"""Every command that README, CONTRIBUTING and docs/ show names subcommands, options and targets that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.shell import ROOT, problem, shown_commands

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_exists(page: Path) -> None:
    shown = list(shown_commands(page.read_text(encoding="utf-8")))
    assert [f"{command}: {found}" for command in shown if (found := problem(command))] == []


def test_the_readme_shows_commands() -> None:
    shown = set(shown_commands((ROOT / "README.md").read_text(encoding="utf-8")))
    assert {"make report", "make test", "parity report digits"} <= shown


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("parity reprot digits", "no subcommand reprot"),
        ("parity report digits --samplse x.npz", "no option --samplse"),
        ("parity golden forget digits", "no subcommand forget"),
        ("make everything", "no make target everything"),
        ("pytest suites/ --parity-modle digits", "no option --parity-modle"),
        ("parity report digits --no-latency --target onnx", None),
        ("make test", None),
        ("pytest suites/ --parity-model digits", None),
    ],
)
def test_a_command_that_does_not_exist_is_noticed(command: str, expected: str | None) -> None:
    assert problem(command) == expected


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_within_the_repository_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
