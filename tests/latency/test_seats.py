from __future__ import annotations

import pytest

from parity.latency.bursts import Burst
from parity.latency.seats import WAITED, Seats, disturbed


def test_sittings_take_turns_on_the_processors() -> None:
    assert [Seats([0, 1, 5], 1, start=at).current for at in range(4)] == [(0,), (1,), (5,), (0,)]


def test_several_threads_get_as_many_processors() -> None:
    assert [Seats([0, 1, 2], 2, start=at).current for at in range(3)] == [(0, 1), (1, 2), (2, 0)]


@pytest.mark.parametrize("threads", [2, 3])
def test_with_a_thread_for_each_processor_there_is_nothing_to_choose(threads: int) -> None:
    seats = Seats([0, 1], threads)
    seats.after([Burst((0.02,), waited=1.0)])
    assert seats.current is None


def test_where_somebody_is_in_the_way_other_seats_are_taken() -> None:
    seats = Seats([0, 1], 1)
    seats.after([Burst((0.02,), waited=0.0), Burst((0.02,), waited=WAITED / 2)])
    assert seats.current == (0,)
    seats.after([Burst((0.02,), waited=0.0), Burst((0.02,), waited=0.5)])
    assert seats.current == (1,)


def test_a_system_that_does_not_tell_disturbs_nothing() -> None:
    assert not disturbed(Burst((0.02,)))
