"""Sittings, one after another: as many for every target at first, then more for those that are undecided."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from parity.latency.plan import Plan
from parity.workers.process import Children
from parity.workers.timed.child import TIMEOUT
from parity.workers.timed.serving import TimeTask
from parity.workers.timed.sitting import Sitting
from parity.workers.timed.timings import REFERENCE, Cell, Timings

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
        _sitting(timing, threads, sitting, timings).hold(wanted)
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


def _sitting(timing: Timing, threads: int, number: int, timings: Timings) -> Sitting:
    tasks = {name: replace(task, threads=threads) for name, task in timing.tasks.items()}
    return Sitting(
        children=timing.children,
        tasks=tasks,
        seconds=timing.plan.sitting_seconds,
        logs=timing.logs,
        timeout=timing.timeout,
        threads=threads,
        number=number,
        timings=timings,
    )
