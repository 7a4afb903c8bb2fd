"""Sittings: fresh processes of eager and of every target that is still to be timed, asked for bursts in turn."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from parity.environment import cores
from parity.environment.state import cpu_seconds
from parity.latency.bursts import Burst
from parity.latency.plan import Plan
from parity.latency.sampler import interleave
from parity.latency.seats import Seats
from parity.latency.statistics import Paired
from parity.workers.process import Children
from parity.workers.timed.child import TIMEOUT, TimedChild, TimingFailedError, few_at_once, timed_child
from parity.workers.timed.serving import TimeTask

REFERENCE = "reference"
"""The name under which eager is timed; `eager@torch` is a target like others."""


RESTLESS = 0.1
"""Share of a core: a session that uses more of one while nobody asks it for anything disturbs all others."""

IDLE_SECONDS = 0.2
"""An idle time shorter than this says nothing, the kernel counting processor time in steps of 10 ms."""


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
        starts: How the processes of each target began, by target and threads.
        seconds: What all of it took.
        burst_seconds: How much of that was spent in bursts.
        sittings: How often fresh processes were started.
        cpu_seconds: Processor time that all of them used.
        restless: Share of a core that each target used while it should have been idle, the largest seen.
    """

    paired: dict[Cell, list[Paired]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
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


Undecided = Callable[[Timings], Collection[Cell]]


@dataclass(frozen=True)
class Timing:
    """What to time, and how.

    Attributes:
        children: Where the processes are started and ended.
        tasks: What to time, by target; `REFERENCE` among them. Their threads are replaced by those of the sweep.
        batches: Batch sizes.
        plan: How much each cell gets.
        logs: Folder for what they print.
        threads: Numbers of intra-op threads.
        timeout: Seconds that a session may take to open, to warm up, or for a burst.
        undecided: Which of the cells timed so far need more.
        progress: Called with a text whenever something begins.
    """

    children: Children
    tasks: Mapping[str, TimeTask]
    batches: Sequence[int]
    plan: Plan
    logs: Path
    threads: Sequence[int] = (1,)
    timeout: float = TIMEOUT
    undecided: Undecided = lambda _: ()
    progress: Callable[[str], None] = lambda _: None


def time_targets(timing: Timing) -> Timings:
    """Time every target beside eager, in fresh processes; cells that stay undecided get more of them."""
    timings, begun = Timings(), time.perf_counter()
    for threads in timing.threads:
        _time_at(timing, threads, timings)
    timings.seconds = time.perf_counter() - begun
    return timings


def _time_at(timing: Timing, threads: int, timings: Timings) -> None:
    targets = [name for name in timing.tasks if name != REFERENCE]
    everything = [Cell(name, batch, threads) for name in targets or [REFERENCE] for batch in timing.batches]
    wanted, sitting = everything, 0
    while wanted:
        timing.progress(_words(wanted, everything, sitting, threads))
        _Sitting(timing, threads, sitting, timings).hold(wanted)
        timings.sittings += 1
        sitting += 1
        if REFERENCE in timings.failed and sitting >= timing.plan.processes:
            return  # nothing more could be decided
        undecided = everything if sitting < timing.plan.processes else set(timing.undecided(timings))
        wanted = [
            cell
            for cell in everything
            if cell in undecided
            and cell.target not in timings.failed
            and timing.plan.goes_on(sitting, timings.spent(cell))
        ]


def _words(wanted: Sequence[Cell], everything: Sequence[Cell], sitting: int, threads: int) -> str:
    at = f" at {threads} threads" if threads > 1 else ""
    undecided = "" if len(wanted) == len(everything) else "undecided "
    which = f"{len(wanted)} {undecided}cell{'s' * (len(wanted) > 1)}"
    return f"{which}{at}, processes no. {sitting + 1}"


class _Sitting:
    """One fresh process for eager and each target; what they say goes into the timings."""

    def __init__(self, timing: Timing, threads: int, number: int, timings: Timings) -> None:
        self._timing = timing
        self._threads = threads
        self._number = number
        self._timings = timings
        self._slots = max(cores() // threads, 1)
        self._seats = Seats(_processors(), threads, start=number)
        self._live: dict[str, TimedChild] = {}
        self._loads: dict[str, float] = {}

    def hold(self, cells: Sequence[Cell]) -> None:
        with contextlib.ExitStack() as stack:
            self._open(stack, [REFERENCE, *dict.fromkeys(cell.target for cell in cells)])
            for batch in sorted({cell.batch for cell in cells}):
                here = [cell.target for cell in cells if cell.batch == batch]
                if any(name in self._live for name in here):
                    self._time(batch, [REFERENCE, *here])
            self._timings.cpu_seconds += sum(cpu_seconds([child.pid]) for child in self._live.values() if child.pid)

    def _open(self, stack: contextlib.ExitStack, names: Sequence[str]) -> None:
        def start(name: str) -> TimedChild:
            task = self._timing.tasks[name]
            log = self._timing.logs / f"{name.replace('/', '_')}.time.log"
            return stack.enter_context(
                timed_child(
                    self._timing.children, name, replace(task, threads=self._threads), log, self._timing.timeout
                )
            )

        known = [
            name for name in dict.fromkeys(names) if name in self._timing.tasks and name not in self._timings.failed
        ]
        for child in few_at_once([partial(start, name) for name in known], self._slots):
            with self._failing():
                self._loads[child.name] = child.opened().seconds
                self._live[child.name] = child

    def _time(self, batch: int, names: Sequence[str]) -> None:
        peaks = self._warm(batch, [name for name in dict.fromkeys(names) if name in self._live])
        while taking := {name: self._live[name] for name in dict.fromkeys(names) if name in self._live}:
            begun, used = time.perf_counter(), self._used()
            try:
                bursts = interleave(
                    taking,
                    batch,
                    self._timing.plan.sitting_seconds,
                    seed=self._number,
                    seats=self._seats,
                )
            except TimingFailedError as error:  # once more, without that one
                self._drop(error)
                continue
            taken = time.perf_counter() - begun
            self._timings.burst_seconds += taken
            self._look_for_restless(bursts, taken, used)
            self._keep(batch, bursts, peaks)
            return

    def _used(self) -> dict[str, float]:
        return {name: cpu_seconds([child.pid]) for name, child in self._live.items() if child.pid}

    def _look_for_restless(
        self, bursts: Mapping[str, Sequence[Burst]], taken: float, before: Mapping[str, float]
    ) -> None:
        """Whoever used more processor time than its own bursts did not sleep in those of others."""
        after = self._used()
        for name, own in bursts.items():
            busy = sum(burst.seconds for burst in own)
            if name in before and taken - busy > IDLE_SECONDS:
                share = (after[name] - before[name] - busy * self._threads) / (taken - busy)
                self._timings.restless[name] = max(share, self._timings.restless.get(name, 0.0))

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
                    self._timings.starts.setdefault((child.name, self._threads), []).append(first)
        return peaks

    def _keep(self, batch: int, bursts: Mapping[str, Sequence[Burst]], peaks: Mapping[str, int | None]) -> None:
        eager = tuple(bursts.get(REFERENCE, ()))
        for name, own in bursts.items():
            beside = () if name == REFERENCE else eager
            made = Paired(tuple(own), beside, peaks.get(name))
            self._timings.paired.setdefault(Cell(name, batch, self._threads), []).append(made)

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except TimingFailedError as error:
            self._drop(error)

    def _drop(self, error: TimingFailedError) -> None:
        self._timings.failed[error.target] = error.what
        self._live.pop(error.target, None)


def _processors() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(cores()))
