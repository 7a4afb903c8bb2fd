"""What was timed so far: bursts of each cell beside eager's, how its processes began, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from parity.latency.statistics import Paired
from parity.records import Symptom

REFERENCE = "reference"
"""The name under which eager is timed; `eager@torch` is a target like others."""


RESTLESS = 0.1
"""Share of a core: a session that uses more of one while nobody asks it for anything disturbs all others."""


class Cell(NamedTuple):
    """A target at one batch size and number of threads."""

    target: str
    batch: int
    threads: int


class Start(NamedTuple):
    """How one process began: seconds to open, and of its first call at a batch size."""

    load_seconds: float
    first_seconds: float
    batch: int


@dataclass
class Timings:
    """What was timed so far.

    Attributes:
        paired: Bursts of each cell beside eager's, by process.
        failed: The reason for each target that could not be timed.
        symptoms: How each of those ended.
        starts: How the processes of each target began, by target and threads.
        seconds: What all of it took.
        burst_seconds: How much of that was spent in bursts.
        sittings: How often fresh processes were started.
        cpu_seconds: Processor time that all of them used.
        restless: Share of a core that each target used while it should have been idle, the largest seen.
    """

    paired: dict[Cell, list[Paired]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    symptoms: dict[str, Symptom] = field(default_factory=dict)
    starts: dict[tuple[str, int], list[Start]] = field(default_factory=dict)
    seconds: float = 0.0
    burst_seconds: float = 0.0
    sittings: int = 0
    cpu_seconds: float = 0.0
    restless: dict[str, float] = field(default_factory=dict)

    def disturbances(self) -> tuple[str, ...]:
        """Sessions that did not sleep while others were timed, in sentences."""
        return tuple(
            f"{name} kept {share:.0%} of a core busy while it was idle: its runtime's threads spin, and slow the others"
            for name, share in self.restless.items()
            if share > RESTLESS
        )

    def spent(self, cell: Cell) -> float:
        """Seconds of the target's own bursts."""
        return sum(burst.seconds for each in self.paired.get(cell, ()) for burst in each.target)
