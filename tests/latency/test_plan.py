from __future__ import annotations

import pytest

from parity.latency.plan import MORE_PROCESSES, Plan

PLAN = Plan(seconds=1.2, processes=3, max_seconds=4.2)


def test_the_first_processes_share_the_time_that_every_cell_gets() -> None:
    assert [PLAN.sitting_seconds(at) for at in range(3)] == pytest.approx([0.4] * 3)


def test_further_processes_share_what_is_left() -> None:
    assert PLAN.sitting_seconds(3) == pytest.approx(3.0 / MORE_PROCESSES)


def test_an_undecided_cell_goes_on_until_its_time_is_used_up() -> None:
    spent, sittings = 0.0, 0
    while PLAN.goes_on(sittings, spent):
        spent += PLAN.sitting_seconds(sittings)
        sittings += 1
    assert sittings == 3 + MORE_PROCESSES
    assert spent == pytest.approx(4.2)


def test_the_first_processes_are_there_however_slow_they_are() -> None:
    assert PLAN.goes_on(2, spent=100.0)
    assert not PLAN.goes_on(3, spent=100.0)


def test_a_bound_below_what_every_cell_gets_allows_no_more() -> None:
    plan = Plan(seconds=1.0, processes=2, max_seconds=0.5)
    assert plan.sitting_seconds(2) > 0
    assert not plan.goes_on(2, spent=1.0)
