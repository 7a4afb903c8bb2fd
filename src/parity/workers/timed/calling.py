"""One timed call: inputs in, outputs touched, by the clock that can tell when the work was done."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import torch

from parity.arrays import Array
from parity.runtimes import Session

Call = Callable[[Mapping[str, Any]], float]
"""Runs a session once and returns the seconds that it took."""


def timed_call(session: Session, device: str, slowdown: float = 0.0) -> Call:
    """Calls of a session by the process's clock, or by the GPU's own where torch runs it there.

    Args:
        session: What to call.
        device: What it was opened on.
        slowdown: Share of its own time by which each call is lengthened, within what is timed.
    """
    if device == "cuda" and session.facts.get("device") == "cuda":
        return _by_events(session)
    return _slowed(session, slowdown) if slowdown else _by_clock(session)


def _by_clock(session: Session) -> Call:
    clock, run = time.perf_counter, session.run

    def call(inputs: Mapping[str, Any]) -> float:
        before = clock()
        touch(run(inputs))
        return clock() - before

    return call


def _slowed(session: Session, slowdown: float) -> Call:
    clock, run = time.perf_counter, session.run

    def call(inputs: Mapping[str, Any]) -> float:
        before = clock()
        touch(run(inputs))
        end = before + (clock() - before) * (1 + slowdown)
        while clock() < end:
            pass
        return clock() - before

    return call


def _by_events(session: Session) -> Call:
    """A GPU is done some time after Python has asked it to be: its own events say when it began and when it ended."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def call(inputs: Mapping[str, Any]) -> float:
        begin.record()
        touch(session.run(inputs))
        end.record()
        torch.cuda.synchronize()
        return float(begin.elapsed_time(end)) / 1e3

    return call


def touch(outputs: Mapping[str, Array]) -> None:
    """Read a value of each output, since a runtime may return before it has computed them."""
    for array in outputs.values():
        if array.size:
            array.item(array.size - 1)
