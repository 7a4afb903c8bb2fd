"""Which processors the processes of a sitting share.

Two processes that are timed beside each other must not run on different cores: one of these may be slower for
minutes, since whatever shares its caches, its frequency or (in a virtual machine) its hyper-threads is busy. On a
shared two-core machine the ratio of two processes moved by 15 to 30 % from one pair to the next while each had its own
core, and by 1 to 2 % once both had the same (standard deviations).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from parity.latency.bursts import Burst

WAITED = 0.02
"""Share of a burst: a process that waited longer for its core was timed together with whoever had it."""


class Seats:
    """The processors of one sitting: the same ones for everybody, and others once somebody is in the way there.

    Args:
        processors: Those that this process may use.
        threads: Intra-op threads of each session; with as many as there are processors there is nothing to choose.
        start: Which ones to begin with, so that sittings take turns.
    """

    def __init__(self, processors: Sequence[int], threads: int, start: int = 0) -> None:
        count = len(processors)
        starts = range(count) if threads < count else ()
        self._choices = [tuple(processors[(at + each) % count] for each in range(threads)) for at in starts]
        self._at = start

    @property
    def current(self) -> tuple[int, ...] | None:
        """Processors to run on, or None for all of them."""
        return self._choices[self._at % len(self._choices)] if self._choices else None

    def after(self, bursts: Iterable[Burst]) -> None:
        """Take other seats where one of these bursts had to wait for its processor."""
        if any(disturbed(each) for each in bursts):
            self._at += 1


def disturbed(burst: Burst) -> bool:
    """Whether another process had the processor for a part of a burst that counts."""
    return burst.waited is not None and burst.waited > WAITED
