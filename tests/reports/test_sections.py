"""Tables: columns without anything in them are left out, and a line keeps what it is about."""

from __future__ import annotations

from parity.records import Verdict
from parity.reports.sections import Line, Section, known, stacked, told, without_absent


def test_a_column_in_which_no_line_has_anything_is_left_out() -> None:
    lines = (
        Line(what="a", numbers=("1", "n/a", "n/a"), verdict=Verdict.FAIL, more=("why",)),
        Line(what="b", numbers=("n/a", "n/a", "3")),
    )
    section = without_absent(Section(title="T", columns=("what", "x", "y", "z"), lines=lines))
    assert section.columns == ("what", "x", "z")
    assert [line.numbers for line in section.lines] == [("1", "n/a"), ("n/a", "3")]
    assert section.lines[0].verdict is Verdict.FAIL
    assert section.lines[0].more == ("why",)


def test_what_a_line_is_about_stays_where_nothing_else_does() -> None:
    section = without_absent(Section(title="T", columns=("what", "x"), lines=(Line(what="a", numbers=("n/a",)),)))
    assert section.columns == ("what",)
    assert section.lines[0].what == "a"


def test_an_interval_stands_under_its_number_where_there_is_one() -> None:
    assert stacked("131 ms", "129..133") == "131 ms\n129..133"
    assert stacked("131 ms", "") == stacked("131 ms", "n/a") == "131 ms"


def test_texts_are_told_once_and_only_where_there_is_a_value() -> None:
    assert known("a", None, "", "b", "a") == ("a", "b")
    assert told("n = {}", 3) == "n = 3"
    assert told("n = {}", None) is None
