"""How much timing a cell gets: a few fresh processes at first, and more of them while it is undecided."""

from __future__ import annotations

from dataclasses import dataclass

MORE_PROCESSES = 4
"""Further processes of a cell that stays undecided; what is left of its time is shared among them."""


@dataclass(frozen=True)
class Plan:
    """The time that a target has at one batch size.

    Attributes:
        seconds: Burst time in seconds that every cell gets, over its first processes.
        processes: How many fresh processes those are.
        max_seconds: Burst time in seconds up to which a cell is timed that is still undecided.
    """

    seconds: float
    processes: int
    max_seconds: float

    def sitting_seconds(self, sitting: int) -> float:
        """Burst time of one process at one batch size, `sitting` counted from 0."""
        first = self.seconds / self.processes
        if sitting < self.processes:
            return first
        return max((self.max_seconds - self.seconds) / MORE_PROCESSES, first)

    def goes_on(self, sittings: int, spent: float) -> bool:
        """Whether a cell that is undecided after so many processes and seconds is timed again."""
        if sittings < self.processes:
            return True
        return spent + self.sitting_seconds(sittings) / 2 <= self.max_seconds
