"""Interleaved sampling: every round gives each target one burst, in random order."""

from __future__ import annotations

import random
from collections.abc import Mapping
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
    targets: Mapping[str, Timed], batch: int, seconds: float, *, seed: int
) -> dict[str, list[tuple[float, ...]]]:
    """Bursts of every target in as many rounds as give each of them `seconds` on average.

    Args:
        targets: Open sessions by name.
        batch: The batch size to call with.
        seconds: Burst time for each target, in seconds.
        seed: For the order within the rounds.
    """
    order = random.Random(seed)  # noqa: S311  # an order, not a secret
    bursts: dict[str, list[tuple[float, ...]]] = {name: [] for name in targets}
    spent, rounds = 0.0, 0
    while rounds < MIN_ROUNDS or spent < seconds * len(targets):
        for name in order.sample(list(targets), len(targets)):
            times = targets[name].burst(batch, BURST_SECONDS)
            bursts[name].append(times)
            spent += sum(times)
        rounds += 1
    return bursts
