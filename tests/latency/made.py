"""Bursts as processes would have made them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from parity.latency.bursts import Burst
from parity.latency.statistics import Paired


def bursts(*times: Iterable[float], waited: float | None = None) -> tuple[Burst, ...]:
    return tuple(Burst(tuple(each), waited) for each in times)


def process(
    seed: int, *, ratio: float = 0.5, noise: float = 0.05, rounds: int = 24, calls: int = 4, speed: float = 1.0
) -> Paired:
    """Bursts around 10 ms of eager, with a load that both feel in the same round."""
    rng = np.random.default_rng(seed)
    load = rng.uniform(1, 2, rounds)

    def made(base: float) -> tuple[Burst, ...]:
        times = base * load[:, None] * np.exp(noise * rng.standard_normal((rounds, calls)))
        return bursts(*times.tolist())

    return Paired(made(0.010 * ratio * speed), made(0.010))
