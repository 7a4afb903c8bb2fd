"""Speed in the terminal, in `parity explain`, in HTML and in Markdown: what failed is seen, what is absent is not."""

from __future__ import annotations

import dataclasses
import html as escaping
import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from parity.records import Record, Report, Verdict
from parity.reports import html, markdown, schema, terminal
from tests.reports import examples, timed


def printed(report: Report, record: Record | None = None, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width)
    if record is None:
        terminal.print_report(report, console)
    else:
        terminal.print_record(report, record, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def page(report: Report) -> str:
    """The text of the page, without scripts, styles and tags."""
    rendered = re.sub(r"<(script|style)\b.*?</\1>", " ", html.render(report), flags=re.DOTALL)
    return " ".join(escaping.unescape(re.sub(r"<[^>]*>", " ", rendered.replace("<wbr>", ""))).split())


def texts(report: Report) -> dict[str, str]:
    """The report in every format, each on one line; `explain` of every target."""
    found = {
        "terminal": printed(report),
        "narrow": printed(report, width=80),
        "explain": "".join(printed(report, record) for record in report.records),
        "html": page(report),
        "markdown": escaping.unescape(markdown.render(report)).replace("\\", ""),
    }
    return {name: " ".join(text.split()) for name, text in found.items()}


@pytest.mark.parametrize("metric", ["max_ms", "min_throughput", "max_bytes", "max_memory"])
@pytest.mark.parametrize(("verdict", "seen"), [(Verdict.FAIL, True), (Verdict.PASS, False)])
def test_a_failed_budget_is_seen_in_every_report_and_one_that_is_kept_is_no_reason(
    metric: str, verdict: Verdict, *, seen: bool
) -> None:
    budget = timed.budget(metric, 20.0, verdict, value=22.0, low=21.0, high=23.0, batch=8, threads=2)
    report = timed.report(timed.cell("trace@torchscript", 0.9, budgets=(budget,), verdict=verdict))
    for name, text in texts(report).items():
        assert (f"budget {metric} at batch 8: 22 " in text) is seen, name


@pytest.mark.parametrize(("verdict", "mark"), [(Verdict.FAIL, "!"), (Verdict.INCONCLUSIVE, "?")])
def test_a_timing_that_fails_or_is_undecided_is_marked_in_the_row(verdict: Verdict, mark: str) -> None:
    report = timed.report(timed.cell("a@b", 0.9, latency=timed.timings(0.9, verdict=verdict)))
    symbol = {"!": "✗", "?": "?"}[mark]
    found = texts(report)
    assert f"0.846{mark}" in found["terminal"]
    assert f"0.846 {symbol}" in found["markdown"]
    assert f"0.846 {symbol}" in found["html"].replace("\xa0", " ")


def test_a_failure_at_another_batch_size_does_not_hide_behind_the_one_that_is_shown() -> None:
    first, *rest = timed.timings(0.9)
    slow = dataclasses.replace(first, verdict=Verdict.FAIL, message="much slower")
    found = texts(timed.report(timed.cell("a@b", 0.9, latency=(slow, *rest), verdict=Verdict.FAIL)))
    assert "batch 1!" in found["terminal"]
    assert "batch 1 ✗" in found["html"]
    assert "batch 1 ✗" in found["markdown"]
    assert all("latency at batch 1: much slower" in text for text in found.values())


def test_a_noisy_machine_is_told_in_every_report_and_a_quiet_one_in_none() -> None:
    for name, text in texts(timed.everything()).items():
        assert timed.NOTES[1] in text, name
        assert "Noisy machine while timing" in text, name
    assert not [name for name, text in texts(timed.quiet()).items() if "Noisy" in text]


def test_the_noise_stands_beside_an_undecided_verdict_on_latency_and_not_beside_a_clear_one() -> None:
    report = timed.everything()
    undecided, slower, budget, _ = report.records
    assert "Noisy machine" in printed(report, undecided)
    assert "Noisy machine" not in printed(report, slower)
    against, _, of_budgets = printed(report, budget).partition("Budgets")
    assert "Noisy machine" not in against
    assert "Noisy machine" in of_budgets


def test_what_fits_a_budget_is_told_where_one_was_given() -> None:
    found = texts(timed.everything())
    for text in (found["terminal"], found["narrow"]):
        assert "Within 50 ms a call" in text
        assert "onnx@openvino: up to batch 8 (p90); best at batch 32, 365 samples/s" in text
    assert "within 50 ms" in found["html"]
    assert "within 50 ms" in found["markdown"]
    assert "Within" not in texts(timed.quiet())["terminal"]


def test_no_batch_size_within_a_budget_is_said_so() -> None:
    report = timed.report(timed.cell("a@b", 0.9, 0.001), sweep_budget=0.001)
    assert "a@b: no batch size; best at batch 32" in texts(report)["terminal"]


def test_too_few_calls_for_a_percentile_say_how_many_it_takes() -> None:
    found = texts(timed.quiet())
    assert "needs 662 calls" in found["html"]
    assert "needs 662 calls" in found["markdown"]
    assert "662 calls" in found["explain"]


def test_explain_has_everything_that_was_measured() -> None:
    report = timed.everything()
    text = " ".join(printed(report, report.record("onnx@openvino")).split())
    for known in (
        "21.8..22.9", "22.5 ms", "31.2 ms", "349..367", "204 MB",  # of a call
        "0.563..0.597", "0.574..0.609", "0.98 / 1.25", "0.942..1.02",  # against eager and the golden
        "at most 40 MB", "19.1..24.4 ms", "at least 250 samples/s",  # budgets
        "104 ms", "Latency of eager", "Startup of eager",
        "312 s, 240 s of it in bursts", "disturbed by other processes",
    ):  # fmt: skip
        assert known in text, known


@pytest.mark.parametrize(
    "make",
    [timed.quiet, timed.everything, timed.several_threads, timed.one_batch, examples.nine_targets, examples.unstable],
)
def test_what_is_absent_never_reads_as_none(make: Callable[[], Report]) -> None:
    for name, text in texts(make()).items():
        assert "None" not in text, name


@pytest.mark.parametrize("index", range(4))
def test_eighty_columns_are_enough_for_all_of_it(index: int) -> None:
    report = timed.everything()
    for text in (printed(report, width=80), printed(report, report.records[index], width=80)):
        assert max(len(line) for line in text.splitlines()) <= 80
    several = timed.several_threads()
    assert max(len(line) for line in printed(several, several.records[0], width=80).splitlines()) <= 80


def test_a_report_of_before_these_fields_renders_and_explains_from_its_json() -> None:
    report = schema.from_json(schema.to_json(examples.nine_targets()))
    assert report.timing is None
    found = texts(report)
    assert "0.623..0.663" in found["html"]
    for absent in ("Startup", "Sweep", "growth", "p99", "Timing"):
        assert not [name for name, text in found.items() if absent in text], absent


def test_names_and_notes_are_text_and_never_markup() -> None:
    hazard = "<img src=x onerror=alert(1)>|[red]x[/red]@someone"
    base = timed.report(timed.cell(hazard, 0.9, budgets=(timed.budget(hazard, 1.0, Verdict.FAIL, message=hazard),)))
    timing = dataclasses.replace(base.timing, notes=(hazard,)) if base.timing else None
    report = dataclasses.replace(base, timing=timing)
    assert "<img" not in html.render(report)
    assert hazard in page(report)
    text = markdown.render(report)
    assert "@someone" not in re.sub(r"`[^`]*`", "", text)
    rows = [line for line in text.partition("### Speed")[2].splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in rows}) == 1
    assert "[red]x[/red]" in printed(report)


def test_several_numbers_of_threads_choose_one_and_say_which() -> None:
    found = texts(timed.several_threads())
    assert "latency / eager, batch 32, 2 threads" in found["markdown"]
    assert "Speed at batch 32, 2 threads" in found["html"]
    head = printed(timed.several_threads()).partition("─")[0]
    assert "batch 32" in head
    assert "2 threads" in head
    assert "32, 4 threads" in found["explain"]
