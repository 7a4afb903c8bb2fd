"""One batch size and one number of threads stand for all targets, wherever a single time is shown."""

from __future__ import annotations

import dataclasses

from parity.reports import summary
from parity.reports.speed.overview import overview
from parity.reports.speed.places import Place, all_threads, at, beside, shared
from tests.reports import examples, timed


def test_the_threads_are_those_of_the_reference_where_targets_were_timed_with_them() -> None:
    report = timed.several_threads()
    assert all_threads(report) == (1, 2, 4)
    assert shared(report) == Place(batch=32, threads=2, threads_named=True)
    four = dataclasses.replace(report, reference=dataclasses.replace(report.reference, threads=4))
    assert shared(four) == Place(batch=32, threads=4, threads_named=True)


def test_otherwise_they_are_those_that_most_were_timed_with() -> None:
    only = (
        timed.cell("a@b", 0.9, latency=timed.timings(0.9, 4)),
        timed.cell("c@d", 0.9, latency=timed.timings(0.9, 1)),
    )
    more = timed.cell("e@f", 0.9, latency=timed.timings(0.9, 4))
    place = shared(examples.report(*only, more))
    assert place is not None
    assert place.threads == 4


def test_the_same_place_is_in_the_row_and_in_the_table() -> None:
    report = timed.several_threads()
    expected = at(report.records[1].latency, Place(batch=32, threads=2))
    assert expected is not None
    table = overview(report)
    assert table is not None
    row = summary.rows(report)[1]
    assert row.latency[0] == ("0.631", None)
    assert table.lines[2].numbers[table.columns.index("ratio to eager") - 1].startswith("0.631")
    assert f"{expected.ratio:.3g}" == "0.631"


def test_a_target_that_was_timed_elsewhere_says_where() -> None:
    report = timed.report(
        timed.cell("a@b", 0.9), timed.cell("c@d", 0.9), timed.cell("e@f", 0.9, latency=timed.timings(0.9, 4)[:2])
    )
    table = overview(report)
    assert table is not None
    assert table.lines[3].what == "e@f (batch 2, 4 threads)"
    assert ("batch 2, 4 threads", None) in summary.rows(report)[2].latency
    assert beside(timed.timings(0.9)[3], Place(batch=32, threads=2)) == ""


def test_nothing_timed_has_no_place() -> None:
    report = examples.unstable()
    assert shared(report) is None
    assert overview(report) is None
