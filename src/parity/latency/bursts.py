"""A burst: calls made one after another, each of them timed, by a process that had a core to itself."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

SHORTEST_BURST = 0.02
"""Seconds. Shorter ones are mostly about caches that somebody else has filled since."""

CLOCK_STEPS = 1000
"""A burst is at least as many steps of the clock, so that reading it costs a thousandth at most."""

_READINGS = 2000


@dataclass(frozen=True)
class Burst:
    """What one burst took.

    Attributes:
        times: Seconds of each call.
        waited: Share of the burst in which the process could have run and another one had its core; None where the
            system does not tell.
    """

    times: tuple[float, ...]
    waited: float | None = None

    @property
    def seconds(self) -> float:
        """All calls together."""
        return sum(self.times)


def clock_step(clock: Callable[[], float] = time.perf_counter) -> float:
    """The smallest step in seconds that a clock is seen to make, what it says of itself being often too good."""
    readings = [clock() for _ in range(_READINGS)]
    steps = [after - before for before, after in itertools.pairwise(readings) if after > before]
    return min(steps, default=time.get_clock_info("perf_counter").resolution)


@cache
def burst_seconds() -> float:
    """How long a burst is at least: 20 ms, and a thousand steps of this machine's clock. One call at least, too."""
    return max(SHORTEST_BURST, CLOCK_STEPS * clock_step())
