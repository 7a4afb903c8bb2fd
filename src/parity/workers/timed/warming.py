"""Warming up until it is warm: first calls compile, choose kernels, fill arenas, and are of no use as times."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from parity.workers.timed.calling import Call

GAIN = 0.03
"""Share by which a round has to be faster than the fastest one before it to show that it still gets faster."""

QUIET_ROUNDS = 2
"""Rounds in a row without such a gain after which it is warm, at the first batch size of a process."""

SLOW_CALL = 0.05
"""Seconds: a session that was warm at another batch size has done with one such call what it does once for each shape
(oneDNN's kernels cost up to a quarter of a call there)."""

ROUND_SECONDS = 0.005
LONGEST = 30.0
"""Seconds after which it is taken for warm, a compiler or a tuner having had its time."""


def warm_up(
    call: Call,
    inputs: Sequence[Mapping[str, Any]],
    *,
    settled: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Call until it gets no faster; returns the seconds of the very first call.

    A round is as many calls as fill `ROUND_SECONDS`, one at least, with the inputs in turn. `settled` says that this
    session was warm at another batch size: one round is enough then, and of slow calls the very first.
    """
    start = clock()
    first = best = call(inputs[0])
    if settled and first >= SLOW_CALL:
        return first
    quiet_rounds = 1 if settled else QUIET_ROUNDS
    turn, quiet = 1, 0
    while quiet < quiet_rounds and clock() - start < LONGEST:
        times: list[float] = []
        while not times or sum(times) < ROUND_SECONDS:
            times.append(call(inputs[turn % len(inputs)]))
            turn += 1
        typical = float(np.median(times))
        quiet = quiet + 1 if typical > best * (1 - GAIN) else 0
        best = min(best, typical)
    return first
