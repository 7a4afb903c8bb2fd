"""A comparison in the terminal, as Markdown and as JSON."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from parity.diffing import DIFF_SCHEMA, Diff, find_changes
from parity.records import Verdict
from parity.reports.diff_json import diff_json
from parity.reports.diff_markdown import render_diff
from parity.reports.diff_terminal import print_diff
from tests.diffing import made
from tests.reports import examples


def printed(diff: Diff, width: int = 80, *, everything: bool = False, colour: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colour, color_system="standard" if colour else None)
    print_diff(diff, console, everything=everything)
    return out.getvalue()


def changed() -> Diff:
    """Something of every kind, between reports that share little."""
    new = dataclasses.replace(examples.nine_targets(), parity="0.2.0")
    return find_changes(made.report(), made.on(new, machine_class="another"))


def hostile() -> Diff:
    """Names and messages made of markup, in both reports and in what they do not share."""
    old = examples.hazardous()
    record = dataclasses.replace(old.records[0], verdict=Verdict.PASS, numeric=())
    return find_changes(dataclasses.replace(old, records=(record,), environment={}), old)


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("make", [changed, hostile])
def test_eighty_columns_are_enough_and_nothing_is_cut(make: Callable[[], Diff], *, everything: bool) -> None:
    text = printed(make(), everything=everything)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "…" not in text


def test_what_a_report_does_not_have_is_one_word_however_narrow_the_terminal() -> None:
    gone = find_changes(made.report(), dataclasses.replace(made.report(), records=()))
    assert "n/a" in printed(gone)
    assert "n/\n" not in re.sub(r" +\n", "\n", printed(gone))


def test_without_a_terminal_there_is_no_escape_sequence() -> None:
    assert "\x1b" not in printed(changed())
    assert "\x1b" in printed(changed(), colour=True)


def test_what_is_not_shared_comes_first_and_the_outcome_last() -> None:
    lines = printed(changed(), 200).splitlines()
    assert lines[0].startswith("old")
    assert lines.index("Not shared") < min(number for number, line in enumerate(lines) if line.startswith("Worse ("))
    assert lines[-1].startswith("WORSE: resnet18: ")


def test_a_narrow_terminal_lists_the_details_that_a_wide_one_has_in_a_column() -> None:
    new = made.with_record(verdict=Verdict.FAIL, message="logits: 31 floors")
    diff = find_changes(made.report(), new)
    assert "onnx@onnxruntime, verdict: logits: 31 floors" in printed(diff)
    (line,) = (line for line in printed(diff, 200).splitlines() if line.startswith("onnx@onnxruntime"))
    assert line.rstrip().endswith("logits: 31 floors")


def test_a_report_against_itself_takes_four_lines() -> None:
    assert len(printed(find_changes(made.report(), made.report())).splitlines()) == 4


def test_every_row_of_the_markdown_has_as_many_cells_as_its_head() -> None:
    for diff in (changed(), hostile()):
        table = [line for line in render_diff(diff, everything=True).splitlines() if line.startswith("|")]
        assert len(table) > 4
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {7}


def test_messages_cannot_make_markup_or_mention_anyone_in_markdown() -> None:
    text = render_diff(hostile())
    assert "<script>" not in text.replace("`</script><b>x</b>", "")
    assert "<img" not in text
    assert "@someone" not in text
    assert "[link](" not in text
    assert r"\*bold\*" in text


def test_the_first_line_of_the_markdown_is_the_outcome() -> None:
    assert render_diff(changed()).startswith("## parity diff: ❌ worse\n")
    assert render_diff(find_changes(made.report(), made.report())).startswith("## parity diff: ✅ the same\n")


def test_json_holds_every_cell_and_no_null() -> None:
    diff = changed()
    read = json.loads(diff_json(diff), parse_constant=pytest.fail)
    assert read["schema"] == DIFF_SCHEMA
    assert len(read["changes"]) == len(diff.changes)
    assert [change.get("verdict") for change in read["changes"]] == [change.verdict for change in diff.changes]
    assert "null" not in diff_json(diff)


def test_json_says_infinite_errors_as_report_json_does() -> None:
    old = made.with_record(numeric=(examples.numeric(1.0),))
    new = made.with_record(numeric=(examples.numeric(float("inf"), allowance=None),))
    read = json.loads(diff_json(find_changes(old, new)))
    (change,) = (each for each in read["changes"] if each.get("verdict") == "worse")
    assert change["new"] == {"value": "Infinity"}
