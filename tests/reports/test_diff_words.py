"""A comparison in words: what is listed, what is only counted, and what is one row."""

from __future__ import annotations

import dataclasses

from parity.diffing import Trend, find_changes
from parity.records import Report, Stage, Symptom, Verdict
from parity.reports import diff_words
from parity.reports.diff_words import Row
from tests.diffing import made
from tests.reports import examples


def rows(old: Report, new: Report, *, everything: bool = False) -> dict[Trend | None, tuple[Row, ...]]:
    found = diff_words.sections(find_changes(old, new), everything=everything)
    return {section.trend: section.rows for section in found}


def many(growth: float, spread: float) -> Report:
    """Nine timings of three targets."""
    timings = made.timed(0.7, spread, growth)
    return made.report(*(examples.record(f"{name}@torch", latency=timings) for name in ("a", "b", "c")))


def test_what_has_not_changed_is_counted_and_not_listed() -> None:
    diff = find_changes(made.report(), made.report())
    assert diff_words.sections(diff) == ()
    same = sum(change.verdict is Trend.SAME for change in diff.changes)
    facts = sum(change.verdict is None for change in diff.changes)
    assert diff_words.unlisted(diff) == f"not listed: {same} the same and {facts} for information; --all lists them"
    assert diff_words.sentence(diff) == f"SAME: resnet18: {same} cells, all the same"


def test_all_lists_every_cell() -> None:
    diff = find_changes(made.report(), made.report())
    found = diff_words.sections(diff, everything=True)
    assert [section.trend for section in found] == [Trend.SAME, None]
    assert sum(len(section.rows) for section in found) == len(diff.changes)


def test_values_stand_beside_their_intervals_and_the_growth() -> None:
    found = rows(many(1.0, 0.01), many(1.2, 0.01))
    row = found[Trend.WORSE][0]
    assert (row.target, row.what) == ("a@torch", "latency, batch 1, 2 threads")
    assert (row.old, row.new) == (("0.84", "0.833..0.847"), ("1.01", "1..1.02"))
    assert row.change == ("1.2 times", "1.19..1.21")
    assert row.detail.startswith("26.2 -> 31.4 ms, eager 31.2 -> 31.2 ms")


def test_noise_is_one_row_and_says_what_would_tell() -> None:
    (row,) = rows(many(1.0, 0.1), many(1.02, 0.1))[Trend.UNKNOWN]
    assert (row.target, row.what) == ("3 targets", "latency, 9 cells")
    assert row.detail.startswith("each may be no change at all; ")
    assert row.detail.endswith("times the processes would tell")


def test_a_change_that_may_or_may_not_matter_is_listed_by_itself() -> None:
    found = rows(many(1.0, 0.05), many(1.1, 0.05))[Trend.UNKNOWN]
    assert len(found) == 9
    assert all("times the processes would tell" in row.detail for row in found)


def test_another_machine_is_one_row() -> None:
    (row,) = rows(many(1.0, 0.01), made.on(many(1.3, 0.01), machine_class="another"))[Trend.UNKNOWN]
    assert row.what == "latency, 9 cells"
    assert "never compared across classes of machine" in row.detail


def test_a_verdict_is_told_with_where_it_ended_and_why() -> None:
    new = made.with_record(verdict=Verdict.FAIL, message="logits: 31 floors")
    whole, target = rows(made.report(), new)[Trend.WORSE]
    assert (whole.target, whole.old, whole.new) == ("report", ("pass",), ("fail",))
    assert (target.target, target.new, target.detail) == (made.TARGET, ("fail",), "logits: 31 floors")


def test_metrics_and_outputs_are_named_as_elsewhere() -> None:
    old = made.with_record(decisions=(examples.decision(1.0),), numeric=(examples.numeric(1.0),))
    new = made.with_record(decisions=(examples.decision(0.9),), numeric=(examples.numeric(40.0, allowance=None),))
    numeric, decision = rows(old, new)[Trend.WORSE]
    assert (numeric.what, numeric.new) == ("error of logits", ("40 floors",))
    assert (decision.what, decision.change[0]) == ("top-1 agreement of logits", "-0.1")


def test_a_difference_says_what_it_means() -> None:
    new = made.on(made.report(), versions={"torch": "2.15.0"})
    new = dataclasses.replace(new, reference=dataclasses.replace(new.reference, oracle="reordering"))
    told = [diff_words.difference(each) for each in find_changes(made.report(), new).differences]
    assert told == [
        "reference, oracle: float64, now reordering (the floor is measured otherwise, so error ratios are not judged)",
        "versions, torch: 2.14.1, now 2.15.0",
    ]


def test_where_a_target_ended_stands_under_its_verdict_and_its_message_is_said_once() -> None:
    old, new = (
        made.with_record(
            verdict=verdict, stage=Stage.COMPARE, symptom=Symptom.MISMATCH, message="logits: 31 floors",
            numeric=(examples.numeric(31.0, verdict=verdict, allowance=None, message="31 floors"),),
        )
        for verdict in (Verdict.PASS, Verdict.FAIL)
    )  # fmt: skip
    _, target, output = rows(old, new)[Trend.WORSE]
    assert (target.new, target.detail) == (("fail", "compare/mismatch"), "logits: 31 floors")
    assert (output.what, output.detail) == ("error of logits", "")
