"""The golden's section in the terminal, Markdown and HTML: every verdict and what moved."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from parity.golden.check import check_golden, golden_verdict
from parity.golden.recording import record_golden
from parity.records import GoldenResult, Report, Verdict
from parity.reports import html, markdown, terminal
from parity.reports.schema import from_json, to_json

from . import made


@pytest.fixture
def failed(tmp_path: Path) -> Report:
    oracle = made.logits()
    before = made.bench(tmp_path / "before", {"y": oracle})
    golden = record_golden(made.report(before, made.record(ratio=1.0)), before, tmp_path / "golden" / "net")
    after = made.bench(tmp_path / "after", {"y": [1.01 * each for each in oracle]}, weights_sha256="c" * 64)
    records = [made.record(), made.record(target="trace@torchscript", ratio=2.0)]
    results = check_golden(golden, records, after)
    return replace(made.report(after, *records), golden=results, verdict=golden_verdict(results))


def _printed(report: Report, width: int = 80) -> str:
    out = io.StringIO()
    terminal.print_report(report, Console(file=out, width=width))
    return out.getvalue()


def test_the_terminal_shows_verdicts_and_what_moved_but_no_target_that_did_not(failed: Report) -> None:
    text = _printed(failed, 400)
    section = text[text.index("Golden") :]
    assert "FAIL y: error" in section
    assert "note model: weights aaaaaaaaaaaa -> cccccccccccc" in section
    assert "worst error ratio" not in section
    assert "held against the golden: failed" in section.splitlines()[-1]
    assert max(map(len, _printed(failed).splitlines())) <= 80


def test_markdown_lists_it(failed: Report) -> None:
    text = markdown.render(failed)
    assert "### Golden\n\n- ❌ fail y: error" in text
    assert "- note: model: weights aaaaaaaaaaaa -&gt; cccccccccccc" in text


def test_html_has_every_result(failed: Report) -> None:
    page = html.render(failed)
    assert "<h2>Golden</h2>" in page
    assert page.count("worst error ratio") == 2


def test_without_a_golden_there_is_no_section(failed: Report) -> None:
    plain = replace(failed, golden=())
    assert all("olden" not in text for text in (_printed(plain), markdown.render(plain)))
    assert "<h2>Golden</h2>" not in html.render(plain)


def test_it_survives_report_json(failed: Report) -> None:
    assert from_json(to_json(failed)) == failed


def test_markup_in_a_message_is_shown_and_not_obeyed(failed: Report) -> None:
    hazard = GoldenResult(kind="output", name="<b>y</b>", message="<i>x</i> [red]y[/red]", verdict=Verdict.FAIL)
    report = replace(failed, golden=(hazard,))
    assert "[red]y[/red]" in _printed(report)
    assert "<i>" not in html.render(report).replace("<i></i>", "")
    assert "<i>" not in markdown.render(report)
