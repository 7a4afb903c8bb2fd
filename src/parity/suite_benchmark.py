"""What was timed, handed to pytest-benchmark, whose storage and comparisons then work on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parity.latency.bursts import Burst


@dataclass
class WorkerClock:
    """A timer for pytest-benchmark that counts only what the workers measured, in seconds."""

    seconds: float = 0.0

    def __call__(self) -> float:
        """Seconds so far."""
        return self.seconds


def replay(benchmark: Any, clock: WorkerClock, bursts: Sequence[Burst]) -> None:
    """One round for each burst, which lasts as long as a call of it did in the median.

    Args:
        benchmark: pytest-benchmark's fixture, whose timer is `clock`.
        clock: The timer.
        bursts: What was measured, one burst at least.
    """
    taken = iter(bursts)

    def pass_by() -> None:
        clock.seconds += float(np.median(next(taken).times))

    benchmark.pedantic(pass_by, rounds=len(bursts), iterations=1)
