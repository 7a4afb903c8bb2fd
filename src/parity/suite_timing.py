"""The bursts of one latency check: the target's for pytest-benchmark, eager's beside each of them."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING

from parity.latency.sampler import BURST_SECONDS
from parity.latency.statistics import Paired
from parity.workbench import Judged
from parity.workers.timing import EAGER, TimedChild, TimeTask, timed_child

if TYPE_CHECKING:
    from parity.suite import ParityCase

MIN_ROUNDS, MAX_ROUNDS = 8, 24
"""Paired bursts of one latency check, shared by `latency.processes` fresh processes."""

CHECK_SECONDS = 2.0
"""Burst time that a latency check aims at, within these bounds."""


class Pairs:
    """Bursts of the target for pytest-benchmark, each with one of eager before or after it, by a coin."""

    def __init__(self, case: ParityCase, judged: Judged, stack: contextlib.ExitStack) -> None:
        self._case = case
        self._stack = stack
        bench = case.session.bench(case.spec)
        eager = TimeTask(case.spec, bench.samples, bench.threads)
        self._tasks = {
            EAGER: eager,
            case.target.name: TimeTask(case.spec, bench.samples, bench.threads, judged.artifact, case.target.runtime),
        }
        self._processes = case.session.settings.latency.processes
        self._coin = random.Random(0)  # noqa: S311  # an order, not a secret
        self._owed = False
        self._round = 0
        self._live: dict[str, TimedChild] = {}
        self._times: list[dict[str, list[tuple[float, ...]]]] = []
        self._restart()
        self.rounds = self._affordable()

    def prepare(self) -> None:
        """Before a round: fresh processes where it is their turn, then eager's burst, or owe it."""
        self._pay()
        if self._round and self._round % -(-self.rounds // self._processes) == 0:
            self._restart()
        self._round += 1
        self._owed = True
        if self._coin.random() < 0.5:  # noqa: PLR2004  # a fair coin
            self._pay()

    def burst_target(self) -> None:
        """One call's time on the worker's clock, the mean of a burst."""
        times = self._burst(self._case.target.name)
        self._case.session.clock.seconds += sum(times) / len(times)

    def finish(self) -> list[Paired]:
        """All rounds, by process."""
        self._pay()
        target = self._case.target.name
        return [Paired(tuple(times[target]), tuple(times[EAGER])) for times in self._times]

    def _affordable(self) -> int:
        """Rounds that take about as long as a check may: fewer of them where one call takes long."""
        seconds = sum(
            max(sum(timed.burst(self._case.session.batch, 0.0)), BURST_SECONDS) for timed in self._live.values()
        )
        return int(min(max(CHECK_SECONDS / seconds, MIN_ROUNDS), MAX_ROUNDS))

    def _pay(self) -> None:
        if self._owed:
            self._burst(EAGER)
            self._owed = False

    def _burst(self, name: str) -> tuple[float, ...]:
        times = self._live[name].burst(self._case.session.batch, BURST_SECONDS)
        self._times[-1][name].append(times)
        return times

    def _restart(self) -> None:
        self._stack.close()
        logs = self._case.session.bench(self._case.spec).artifacts / "timing"
        children = self._case.session.children
        self._live = {
            name: self._stack.enter_context(timed_child(children, name, task, logs / f"{name}.log"))
            for name, task in self._tasks.items()
        }
        self._times.append({name: [] for name in self._tasks})
        for timed in self._live.values():
            timed.wait_ready(120)
            timed.burst(self._case.session.batch, 0.0)  # warms up
