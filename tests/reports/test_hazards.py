"""Hazards are shown as advice, and beside the target that they explain."""

from __future__ import annotations

import io

from rich.console import Console

from parity.records import Report
from parity.reports import html, markdown, terminal

from . import examples

WHY = "likely because model.py:41 reads a tensor's value into Python: trace keeps the branch that its example took"


def printed(report: Report, target: str | None = None) -> str:
    console = Console(file=io.StringIO(), width=200)
    if target is None:
        terminal.print_report(report, console)
    else:
        terminal.print_record(report, report.record(target), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_terminal_shows_the_explanation_under_its_target_and_the_hazards_after_all() -> None:
    lines = printed(examples.explained()).splitlines()
    failing = next(number for number, line in enumerate(lines) if line.startswith("FAIL trace@torchscript"))
    assert WHY in lines[failing + 2]
    head = next(number for number, line in enumerate(lines) if line.startswith("Hazards (advice"))
    assert head > failing
    assert lines[head + 1].strip() == (
        "model.py:41 in encoder.layers.3: reads a tensor's value into Python (affects trace, export): if x.sum() > 0:"
    )


def test_the_terminal_shows_a_few_and_says_how_many_more_there_are() -> None:
    text = printed(examples.explained(9))
    assert "model.py:46" in text
    assert "model.py:47" not in text
    assert "and 3 more in the report" in text


def test_explain_shows_the_explanation_of_the_target_that_failed_alone() -> None:
    assert WHY in printed(examples.explained(), "trace@torchscript")
    assert "likely" not in printed(examples.explained(), "script@torchscript")


def test_files_show_every_hazard_and_the_explanation() -> None:
    for text in (html.render(examples.explained(9)).replace("&#39;", "'"), markdown.render(examples.explained(9))):
        assert "Hazards" in text
        assert all(f"model.py:{41 + number}" in text for number in range(9))
        assert "if x.sum() &gt; 0:" in text or "`if x.sum() > 0:`" in text
        assert WHY in text


def test_a_model_without_hazards_has_no_such_section() -> None:
    for text in (printed(examples.all_pass()), html.render(examples.all_pass()), markdown.render(examples.all_pass())):
        assert "Hazards" not in text
