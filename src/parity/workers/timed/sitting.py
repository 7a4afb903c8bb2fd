"""One sitting: a fresh process of eager and of every target that is to be timed, asked for bursts in turn."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from parity.environment import cores
from parity.environment.state import cpu_seconds
from parity.latency.bursts import Burst
from parity.latency.plan import worthwhile
from parity.latency.sampler import interleave
from parity.latency.seats import Seats
from parity.latency.statistics import Paired
from parity.workers.process import Children
from parity.workers.timed.child import TimedChild, TimingFailedError, few_at_once, timed_child
from parity.workers.timed.serving import TimeTask
from parity.workers.timed.timings import REFERENCE, Cell, Start, Timings

IDLE_SECONDS = 0.2
"""An idle time shorter than this says nothing, the kernel counting processor time in steps of 10 ms."""


@dataclass
class Sitting:
    """One fresh process for eager and each target; what they say goes into the timings.

    Attributes:
        children: Where the processes are started and ended.
        tasks: What to time, by target; `REFERENCE` among them.
        seconds: Burst time of each process at each batch size.
        logs: Folder for what they print.
        timeout: Seconds that a session may take to open, to warm up, or for a burst.
        threads: Intra-op threads of each.
        number: Which one it is of those with so many threads.
        timings: Where it all goes.
    """

    children: Children
    tasks: Mapping[str, TimeTask]
    seconds: float
    logs: Path
    timeout: float
    threads: int
    number: int
    timings: Timings
    _live: dict[str, TimedChild] = field(default_factory=dict)
    _loads: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._slots = max(cores() // self.threads, 1)
        self._seats = Seats(_processors(), self.threads, start=self.number)

    def hold(self, cells: Sequence[Cell]) -> None:
        """Time these cells, batch size by batch size."""
        with contextlib.ExitStack() as stack:
            self._open(stack, [REFERENCE, *dict.fromkeys(cell.target for cell in cells)])
            for batch in sorted({cell.batch for cell in cells}):
                here = [cell.target for cell in cells if cell.batch == batch]
                if any(name in self._live for name in here):
                    self._time(batch, [REFERENCE, *here])
            self.timings.cpu_seconds += sum(self._used().values())
        self.timings.sittings += 1

    def _open(self, stack: contextlib.ExitStack, names: Sequence[str]) -> None:
        def start(name: str) -> TimedChild:
            log = self.logs / f"{name.replace('/', '_')}.time.log"
            return stack.enter_context(timed_child(self.children, name, self.tasks[name], log, self.timeout))

        known = [name for name in dict.fromkeys(names) if name in self.tasks and name not in self.timings.failed]
        for child in few_at_once([partial(start, name) for name in known], self._slots):
            with self._failing():
                self._loads[child.name] = child.opened().seconds
                self._live[child.name] = child

    def _time(self, batch: int, names: Sequence[str]) -> None:
        begun = time.perf_counter()
        peaks = self._warm(batch, [name for name in dict.fromkeys(names) if name in self._live])
        warming = time.perf_counter() - begun
        while taking := {name: self._live[name] for name in dict.fromkeys(names) if name in self._live}:
            begun, used = time.perf_counter(), self._used()
            try:
                seconds = worthwhile(self.seconds, warming / len(taking))
                bursts = interleave(taking, batch, seconds, seed=self.number, seats=self._seats)
            except TimingFailedError as error:  # once more, without that one
                self._drop(error)
                continue
            taken = time.perf_counter() - begun
            self.timings.burst_seconds += taken
            self._look_for_restless(bursts, taken, used)
            self._keep(batch, bursts, peaks)
            return

    def _used(self) -> dict[str, float]:
        return {name: cpu_seconds([child.pid]) for name, child in self._live.items() if child.pid}

    def _look_for_restless(
        self, bursts: Mapping[str, Sequence[Burst]], taken: float, before: Mapping[str, float]
    ) -> None:
        """Whoever used more processor time than its own bursts could did not sleep in those of others."""
        after = self._used()
        for name, own in bursts.items():
            busy = sum(burst.seconds for burst in own)
            possible = sum(max(self.threads - (burst.waited or 0.0), 0.0) * burst.seconds for burst in own)
            if name in before and taken - busy > IDLE_SECONDS:
                share = (after[name] - before[name] - possible) / (taken - busy)
                self.timings.restless[name] = max(share, self.timings.restless.get(name, 0.0))

    def _warm(self, batch: int, names: Sequence[str]) -> dict[str, int | None]:
        """Warm up alone, so that a target that refuses this batch leaves the others be."""
        peaks: dict[str, int | None] = {}

        def start(child: TimedChild) -> TimedChild:
            with self._failing():
                child.ask_warm(batch)
            return child

        for child in few_at_once([partial(start, self._live[name]) for name in names], self._slots):
            with self._failing():
                warm = child.warm()
                peaks[child.name] = warm.peak_bytes
                if child.name in self._loads:
                    first = Start(self._loads.pop(child.name), warm.first_seconds, batch)
                    self.timings.starts.setdefault((child.name, self.threads), []).append(first)
        return peaks

    def _keep(self, batch: int, bursts: Mapping[str, Sequence[Burst]], peaks: Mapping[str, int | None]) -> None:
        eager = tuple(bursts.get(REFERENCE, ()))
        for name, own in bursts.items():
            beside = () if name == REFERENCE else eager
            made = Paired(tuple(own), beside, peaks.get(name))
            self.timings.paired.setdefault(Cell(name, batch, self.threads), []).append(made)

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except TimingFailedError as error:
            self._drop(error)

    def _drop(self, error: TimingFailedError) -> None:
        self.timings.failed[error.target] = error.what
        self.timings.symptoms[error.target] = error.symptom
        child = self._live.pop(error.target, None)
        if child is not None and child.pid:
            self.timings.cpu_seconds += cpu_seconds([child.pid])


def _processors() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(cores()))
