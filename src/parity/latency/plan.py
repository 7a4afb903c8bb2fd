"""How much timing a cell gets: a few fresh processes at first, and more of them while it is undecided."""

from __future__ import annotations

from dataclasses import dataclass

WORTH = 5.0
"""Bursts take as many times what warming up for them took, so that four fifths of the time are theirs with what opening
took as well. Opening itself does not count: another process tells more than a longer one, and costs as much."""

MOST = 4.0
"""How many times as long as planned they take for that, lest all wait for one session that compiles for minutes."""


@dataclass(frozen=True)
class Plan:
    """The time that a target has at one batch size.

    Every process gets as much: what one more of them tells is more than what a longer life of one would.

    Attributes:
        seconds: Burst time in seconds that every cell gets, over its first processes.
        processes: How many fresh processes those are.
        max_seconds: Burst time in seconds up to which a cell is timed that is still undecided.
    """

    seconds: float
    processes: int
    max_seconds: float

    @property
    def sitting_seconds(self) -> float:
        """Burst time of one process at one batch size."""
        return self.seconds / self.processes

    def goes_on(self, sittings: int, spent: float) -> bool:
        """Whether a cell that is undecided after so many processes and seconds is timed again."""
        return sittings < self.processes or spent + self.sitting_seconds / 2 <= self.max_seconds


def worthwhile(planned: float, warming: float) -> float:
    """Burst time in seconds of one process at one batch size.

    Args:
        planned: What it gets at least, in seconds.
        warming: What warming up for it took, in seconds.
    """
    return min(max(planned, WORTH * warming), MOST * planned)
