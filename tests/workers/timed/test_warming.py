from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from parity.workers.timed import warming
from parity.workers.timed.warming import warm_up


class Warming:
    """A call that takes `times` first and the last of them from then on; time passes for it alone."""

    def __init__(self, *times: float) -> None:
        self.times = times
        self.seen: list[Any] = []
        self.now = 0.0

    def __call__(self, inputs: Mapping[str, Any]) -> float:
        taken = self.times[min(len(self.seen), len(self.times) - 1)]
        self.seen.append(inputs["x"])
        self.now += taken
        return taken

    @property
    def clock(self) -> Callable[[], float]:
        return lambda: self.now


INPUTS = [{"x": at} for at in range(3)]


def warmed(*times: float, settled: bool = False) -> Warming:
    call = Warming(*times)
    assert warm_up(call, INPUTS, clock=call.clock, settled=settled) == times[0]
    return call


def test_a_steady_call_is_warm_after_two_more() -> None:
    assert len(warmed(1.0).seen) == 3


def test_one_that_gets_faster_is_called_until_it_does_not() -> None:
    assert len(warmed(9.0, 8.0, 4.0, 2.0, 1.0).seen) == 7


def test_a_compiler_that_steps_in_at_the_second_call_is_waited_for() -> None:
    """TorchScript profiles at the first call and optimises at the second, which may be the slower one."""
    assert len(warmed(2.0, 5.0, 1.0).seen) >= 5


def test_fast_calls_are_judged_by_rounds_of_them() -> None:
    assert len(warmed(0.0001).seen) >= 2 * warming.ROUND_SECONDS / 0.0001


def test_a_session_that_was_warmed_before_needs_one_quiet_round_and_slow_calls_none() -> None:
    assert len(warmed(0.02, settled=True).seen) == 2
    assert len(warmed(1.0, settled=True).seen) == 1


def test_inputs_take_turns() -> None:
    assert warmed(9.0, 8.0, 4.0, 2.0, 1.0).seen == [0, 1, 2, 0, 1, 2, 0]


def test_what_never_settles_is_left_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "LONGEST", 5.0)
    call = Warming(*(1.0 * 0.9**at for at in range(200)))
    warm_up(call, INPUTS, clock=call.clock)
    assert 5 <= call.now < 6
