"""Interleaved sampling: every round gives each session one burst, in random order, on the same processors."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from parity.latency.bursts import Burst, burst_seconds
from parity.latency.seats import Seats

MIN_ROUNDS = 4
"""Fewer rounds have no spread to speak of, however long a call takes."""

MIN_SLOW_ROUNDS = 2
"""Of calls so slow that four rounds take a multiple of the time that is there."""

_SLOW = 4.0
"""How many times as much they may take for there to be four."""


class Timed(Protocol):
    """An open and warm session that can be asked for bursts."""

    def burst(self, batch: int, seconds: float, processors: tuple[int, ...] | None) -> Burst:
        """As many calls as fill `seconds`, one at least, on these processors."""
        ...


def interleave(
    sessions: Mapping[str, Timed],
    batch: int,
    seconds: float,
    *,
    seed: int,
    seats: Seats,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[Burst]]:
    """Bursts of every session, in the number of rounds that comes nearest to `seconds` for each of them.

    What it takes to ask and to answer counts as well: the budget is time that somebody waits.

    Args:
        sessions: Open sessions by name.
        batch: The batch size to call with.
        seconds: Wall time for each session, in seconds.
        seed: For the order within the rounds.
        seats: The processors to run on.
        clock: Wall time, in seconds.
    """
    order = random.Random(seed)  # noqa: S311  # an order, not a secret
    bursts: dict[str, list[Burst]] = {name: [] for name in sessions}
    budget, start, rounds = seconds * len(sessions), clock(), 0
    while _goes_on(rounds, clock() - start, budget):
        for name in order.sample(list(sessions), len(sessions)):
            bursts[name].append(sessions[name].burst(batch, burst_seconds(), seats.current))
        seats.after(made[-1] for made in bursts.values())
        rounds += 1
    return bursts


def _goes_on(rounds: int, taken: float, budget: float) -> bool:
    if rounds < MIN_SLOW_ROUNDS:
        return True
    if rounds < MIN_ROUNDS:
        return taken < budget * _SLOW
    return taken * (1 + 0.5 / rounds) < budget
