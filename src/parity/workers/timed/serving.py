"""The child's side: a session that is opened once, warmed up at each batch size, and answers with bursts."""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from parity.artifacts import Artifact
from parity.latency.bursts import Burst
from parity.models.build import build
from parity.models.spec import ModelSpec
from parity.runtimes import Session, SessionOptions
from parity.runtimes.torch import eager_session
from parity.samples.store import StoredSamples
from parity.workers.entry import useful_line
from parity.workers.load import HELD_OUT
from parity.workers.memory import peak_bytes, reset_peak
from parity.workers.opening import open_session
from parity.workers.timed.calling import Call, timed_call
from parity.workers.timed.warming import warm_up

ROTATED_INPUTS = 4
"""Inputs that take turns, so that caches do not flatter a session that is given the same one again and again."""


@dataclass(frozen=True)
class TimeTask:
    """What a child needs to be timed: an artifact at a runtime, or neither for eager.

    `slowdown` lengthens every call by that share of itself, within what is timed: the planted fault of this stage.
    """

    spec: ModelSpec
    samples: Path
    threads: int
    artifact: Artifact | None = None
    runtime: str | None = None
    device: str = "cpu"
    slowdown: float = 0.0


@dataclass(frozen=True)
class Opened:
    """Seconds from the start of the task to an open session."""

    seconds: float


@dataclass(frozen=True)
class Warm:
    """A batch size that is warm: seconds of its first call, and the peak of memory above the process's baseline."""

    first_seconds: float
    peak_bytes: int | None


@dataclass(frozen=True)
class Failed:
    """The line that matters of what was raised."""

    message: str


def serve(task: TimeTask, connection: Connection) -> None:
    """Open the session and answer requests until the pipe closes: a batch size to warm up, or a burst of it."""
    before = reset_peak()
    start = time.perf_counter()
    session = _open(task)
    connection.send(Opened(time.perf_counter() - start))
    served = _Served(task, session, before)
    while True:
        try:
            batch, *burst = connection.recv()
        except EOFError:
            return
        try:
            connection.send(served.burst(batch, *burst) if burst else served.warm(batch))
        except Exception as error:  # noqa: BLE001  # a stage boundary: it becomes the cell's record
            connection.send(Failed(useful_line(error)))


def _open(task: TimeTask) -> Session:
    if task.artifact is None or task.runtime is None:
        options = SessionOptions(task.threads, task.spec.signature.names, task.device)
        return eager_session(build(task.spec).module, options)
    return open_session(task.spec, task.artifact, task.runtime, threads=task.threads, device=task.device)


class _Served:
    """The open session with its inputs by batch size."""

    def __init__(self, task: TimeTask, session: Session, before: int | None) -> None:
        self._stored = StoredSamples(task.samples / HELD_OUT, task.spec.signature)
        self._batched = task.spec.signature.batch is not None
        self._call = timed_call(session, task.device, task.slowdown)
        self._before = before
        self._inputs: dict[int, list[dict[str, Any]]] = {}
        self._everywhere = _processors()
        self._processors: tuple[int, ...] | None = None

    def warm(self, batch: int) -> Warm:
        settled = bool(self._inputs)
        inputs = self._inputs[batch] = self._rotated(batch)
        reset_peak()
        first = warm_up(self._call, inputs, settled=settled)
        peak = peak_bytes()
        gc.freeze()  # what lives now lives on: a collection that looked at all of torch would take longer than a burst
        above = None if peak is None or self._before is None else max(peak - self._before, 0)
        return Warm(first, above)

    def burst(self, batch: int, seconds: float, processors: tuple[int, ...] | None) -> Burst:
        if processors != self._processors:
            _sit(processors or self._everywhere)
            self._processors = processors
        gc.disable()
        try:
            return _burst(self._call, self._inputs[batch], seconds)
        finally:
            gc.enable()

    def _rotated(self, batch: int) -> list[dict[str, Any]]:
        """Several inputs of one shape. Ragged samples repeat the commonest."""
        shapes = self._stored.shapes
        common = max(set(shapes), key=shapes.count)
        alike = [index for index, shape in enumerate(shapes) if shape == common]
        size = batch if self._batched else 1
        return [
            self._stored.batch([alike[(turn * size + place) % len(alike)] for place in range(size)])
            for turn in range(ROTATED_INPUTS)
        ]


def _burst(call: Call, inputs: Sequence[Mapping[str, Any]], seconds: float) -> Burst:
    clock = time.perf_counter
    times: list[float] = []
    waited, start = _waited(), clock()
    while not times or clock() - start < seconds:
        times.append(call(inputs[len(times) % len(inputs)]))
    taken, after = clock() - start, _waited()
    return Burst(tuple(times), None if waited is None or after is None else (after - waited) / taken)


def _waited() -> float | None:
    """Seconds for which threads of this process could have run and had no processor; Linux counts them."""
    try:
        return sum(int((each / "schedstat").read_text().split()[1]) for each in Path("/proc/self/task").iterdir()) / 1e9
    except (OSError, ValueError, IndexError):
        return None


def _processors() -> tuple[int, ...]:
    return tuple(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else ()


def _sit(processors: tuple[int, ...]) -> None:
    """Run every thread of this process on these processors; nothing where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError, ValueError):  # a thread that has ended meanwhile
            os.sched_setaffinity(int(task.name), processors)
