"""What is said of a target's speed in a few words."""

from __future__ import annotations

import dataclasses

from parity.records import Verdict
from parity.reports.speed import budgets
from parity.reports.speed.lines import latency_lines, size_lines, speed_reasons
from parity.reports.speed.places import Place
from tests.reports import timed

PLACE = Place(batch=32, threads=2)


def test_a_healthy_target_has_its_ratio_and_its_interval_and_no_mark() -> None:
    record = timed.cell("a@b", 0.5)
    assert latency_lines(record, PLACE) == (("0.47", None), ("0.456..0.484", None))
    assert size_lines(record) == (("46.8 MB", None),)


def test_budgets_mark_the_cell_of_what_they_are_for() -> None:
    over = timed.budget("max_bytes", 1.0, Verdict.FAIL)
    slow = timed.budget("max_ms", 1.0, Verdict.INCONCLUSIVE)
    record = timed.cell("a@b", 0.5, budgets=(over, slow))
    assert latency_lines(record, PLACE)[-1] == ("budget", Verdict.INCONCLUSIVE)
    assert size_lines(record)[-1] == ("budget", Verdict.FAIL)


def test_a_budget_is_marked_where_nothing_could_be_timed() -> None:
    record = timed.cell("a@b", 0.5, latency=(), budgets=(timed.budget("max_ms", 1.0, Verdict.INCONCLUSIVE),))
    assert latency_lines(record, PLACE) == (("budget", Verdict.INCONCLUSIVE),)


def test_many_undecided_timings_take_two_lines() -> None:
    noisy = timed.timings(0.9, verdict=Verdict.INCONCLUSIVE, message="too noisy")
    record = timed.cell("a@b", 0.9, latency=noisy, verdict=Verdict.INCONCLUSIVE)
    assert speed_reasons(record) == (
        "latency at batch 1: too noisy", "latency at batch 2, 8 and 32: undecided too, see the details",
    )  # fmt: skip
    told = dataclasses.replace(record, message="batch 1: too noisy")
    assert speed_reasons(told) == ("latency at batch 2, 8 and 32: undecided too, see the details",)


def test_those_that_failed_are_told_each_with_their_threads_where_those_differ() -> None:
    slow = timed.timings(0.9, verdict=Verdict.FAIL, message="slower")
    other = timed.timings(0.9, 4)
    record = timed.cell("a@b", 0.9, latency=(*slow[:2], *other), verdict=Verdict.FAIL)
    assert speed_reasons(record) == (
        "latency at batch 1, 2 threads: slower", "latency at batch 2, 2 threads: slower",
    )  # fmt: skip


def test_a_failure_without_a_message_still_says_something() -> None:
    slow = timed.timings(0.9, verdict=Verdict.FAIL)[2:3]
    assert speed_reasons(timed.cell("a@b", 0.9, latency=slow)) == ("latency at batch 8: ratio 0.9 / 1.15",)


def test_budgets_that_failed_are_told_each_and_undecided_ones_in_one_line() -> None:
    limits = [
        timed.budget("max_ms", 5.0, verdict, batch=batch, threads=2, message=f"{batch} is {verdict}")
        for verdict, batches in ((Verdict.FAIL, (1, 2)), (Verdict.INCONCLUSIVE, (8, 32)))
        for batch in batches
    ]
    record = timed.cell("a@b", 0.9, budgets=tuple(limits), message="batch 1: 1 is fail")
    assert budgets.reasons(record) == (
        "budget max_ms at batch 2: 2 is fail",
        "budget max_ms at batch 8: 8 is inconclusive",
        "budget max_ms at batch 32: undecided too, see the details",
    )
