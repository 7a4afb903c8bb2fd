from __future__ import annotations

import pytest

from parity.latency.plan import Plan, worthwhile

PLAN = Plan(seconds=1.2, processes=3, max_seconds=4.0)


def test_the_first_processes_share_the_time_that_every_cell_gets() -> None:
    assert PLAN.sitting_seconds == pytest.approx(0.4)


def test_an_undecided_cell_gets_further_processes_until_its_time_is_used_up() -> None:
    spent, sittings = 0.0, 0
    while PLAN.goes_on(sittings, spent):
        spent += PLAN.sitting_seconds
        sittings += 1
    assert sittings == 10
    assert spent == pytest.approx(4.0)


def test_the_first_processes_are_there_however_slow_they_are() -> None:
    assert PLAN.goes_on(2, spent=100.0)
    assert not PLAN.goes_on(3, spent=100.0)


def test_a_bound_below_what_every_cell_gets_allows_no_more() -> None:
    assert not Plan(seconds=1.0, processes=2, max_seconds=0.5).goes_on(2, spent=1.0)


@pytest.mark.parametrize(("warming", "seconds"), [(0.0, 0.3), (0.05, 0.3), (0.1, 0.5), (0.2, 1.0), (60.0, 1.2)])
def test_what_took_long_to_warm_up_is_timed_for_longer_within_bounds(warming: float, seconds: float) -> None:
    assert worthwhile(0.3, warming) == pytest.approx(seconds)


def test_bursts_are_four_fifths_of_the_time_wherever_the_bound_allows_it() -> None:
    made = worthwhile(0.3, 0.2)
    assert made / (made + 0.2) >= 0.8
