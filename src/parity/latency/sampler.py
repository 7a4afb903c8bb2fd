"""Interleaved sampling: every round gives each target one burst, in random order."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import Protocol

BURST_SECONDS = 0.02
"""A burst is at least this long, and one call at least: far above the clock's resolution."""

MIN_ROUNDS = 4
"""Fewer rounds have no spread to speak of, however long a call takes."""


class Timed(Protocol):
    """An open session that can be asked for bursts."""

    def burst(self, batch: int, seconds: float) -> tuple[float, ...]:
        """Times in seconds of as many calls as fill `seconds`, one at least, after warming up."""
        ...


def interleave(
    targets: Mapping[str, Timed],
    batch: int,
    seconds: float,
    *,
    seed: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[tuple[float, ...]]]:
    """Bursts of every target, in the number of rounds that comes nearest to `seconds` for each of them.

    What it takes to ask and to answer counts as well: the budget is time that somebody waits.

    Args:
        targets: Open sessions by name.
        batch: The batch size to call with.
        seconds: Wall time for each target, in seconds.
        seed: For the order within the rounds.
        clock: Wall time, in seconds.
    """
    order = random.Random(seed)  # noqa: S311  # an order, not a secret
    bursts: dict[str, list[tuple[float, ...]]] = {name: [] for name in targets}
    budget, start, rounds = seconds * len(targets), clock(), 0
    while rounds < MIN_ROUNDS or (clock() - start) * (1 + 0.5 / rounds) < budget:
        for name in order.sample(list(targets), len(targets)):
            bursts[name].append(targets[name].burst(batch, BURST_SECONDS))
        rounds += 1
    return bursts
