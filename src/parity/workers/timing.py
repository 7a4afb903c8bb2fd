"""The time stage: sessions that stay open in processes of their own and are asked for bursts."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from parity.artifacts import Artifact
from parity.errors import ParityError
from parity.latency.sampler import interleave
from parity.latency.statistics import Paired
from parity.models.build import build
from parity.models.spec import ModelSpec
from parity.runtimes import Session, SessionOptions
from parity.runtimes.torch import eager_session
from parity.samples.store import StoredSamples
from parity.workers.entry import useful_line
from parity.workers.load import HELD_OUT
from parity.workers.opening import open_session
from parity.workers.process import Child, Children, context

EAGER = "eager@torch"

_ROTATED_INPUTS = 4
_WARM_CALLS = 30
_WARM_SECONDS = 1.0
_WARM_TOLERANCE = 1.05
_REPLY_SECONDS = 120.0


@dataclass(frozen=True)
class TimeTask:
    """What a child needs to be timed: an artifact at a runtime, or neither for eager."""

    spec: ModelSpec
    samples: Path
    threads: int
    artifact: Artifact | None = None
    runtime: str | None = None
    device: str = "cpu"


def serve(task: TimeTask, connection: Connection) -> None:
    """Open the session and answer `(batch, seconds)` with the times of a burst until the pipe closes."""
    session = _open(task)
    stored = StoredSamples(task.samples / HELD_OUT, task.spec.signature)
    inputs: dict[int, list[dict[str, Any]]] = {}
    connection.send(("ready", ()))
    gc.disable()
    while True:
        try:
            batch, seconds = connection.recv()
        except EOFError:
            return
        try:
            if batch not in inputs:
                inputs[batch] = _inputs(stored, batch, batched=task.spec.signature.batch is not None)
                _warm_up(session, inputs[batch])
            connection.send(("times", _burst(session, inputs[batch], seconds)))
        except Exception as error:  # noqa: BLE001  # a stage boundary: it becomes the cell's record
            connection.send(("failed", useful_line(error)))


def _open(task: TimeTask) -> Session:
    if task.artifact is None or task.runtime is None:
        options = SessionOptions(task.threads, task.spec.signature.names, task.device)
        return eager_session(build(task.spec).module, options)
    return open_session(task.spec, task.artifact, task.runtime, threads=task.threads, device=task.device)


def _inputs(stored: StoredSamples, batch: int, *, batched: bool) -> list[dict[str, Any]]:
    """Several inputs to rotate, so that caches do not flatter. Ragged samples repeat the commonest shape."""
    common = max(set(stored.shapes), key=stored.shapes.count)
    alike = [index for index, shape in enumerate(stored.shapes) if shape == common]
    size = batch if batched else 1
    return [
        stored.batch([alike[(turn * size + place) % len(alike)] for place in range(size)])
        for turn in range(_ROTATED_INPUTS)
    ]


def _warm_up(session: Session, inputs: Sequence[Mapping[str, Any]]) -> None:
    """Call until three calls in a row are no slower than the fastest before them, within bounds."""
    fastest, steady, start = float("inf"), 0, time.perf_counter()
    for turn in range(_WARM_CALLS):
        before = time.perf_counter()
        session.run(inputs[turn % len(inputs)])
        taken = time.perf_counter() - before
        steady = steady + 1 if taken <= fastest * _WARM_TOLERANCE else 0
        fastest = min(fastest, taken)
        if steady >= 3 or (turn > 1 and time.perf_counter() - start > _WARM_SECONDS):  # noqa: PLR2004  # see docstring
            return


def _burst(session: Session, inputs: Sequence[Mapping[str, Any]], seconds: float) -> tuple[float, ...]:
    clock = time.perf_counter
    times: list[float] = []
    end = clock() + seconds
    while not times or clock() < end:
        chosen = inputs[len(times) % len(inputs)]
        before = clock()
        session.run(chosen)
        times.append(clock() - before)
    return tuple(times)


class TimingFailedError(ParityError):
    """A timed session gave no times; `target` says which."""

    def __init__(self, target: str, what: str) -> None:
        super().__init__(what)
        self.target = target


class TimedChild:
    """The parent's side of `serve`."""

    def __init__(self, name: str, child: Child, connection: Connection) -> None:
        self._name = name
        self._child = child
        self._connection = connection

    def wait_ready(self, timeout: float) -> None:
        """Raises TimingFailedError with the reason where the session did not open."""
        self._answer(timeout)

    def burst(self, batch: int, seconds: float) -> tuple[float, ...]:
        """Times in seconds of the calls of one burst; raises TimingFailedError where there is none."""
        try:
            self._connection.send((batch, seconds))
        except OSError as error:
            raise TimingFailedError(self._name, self._child.died()) from error
        times: tuple[float, ...] = self._answer(_REPLY_SECONDS + seconds)
        return times

    def _answer(self, timeout: float) -> Any:
        try:
            if not self._connection.poll(timeout):
                raise TimingFailedError(self._name, f"no answer for {timeout:g} s")
            kind, content = self._connection.recv()
        except (EOFError, ConnectionError):
            reply = None
            with contextlib.suppress(EOFError, OSError, TimeoutError):
                reply = self._child.receive(5)
            raise TimingFailedError(self._name, reply.message if reply else self._child.died()) from None
        if kind == "failed":
            raise TimingFailedError(self._name, content)
        return content


@contextlib.contextmanager
def timed_child(children: Children, name: str, task: TimeTask, log: Path) -> Iterator[TimedChild]:
    """A session in a fresh process, open while the block lasts."""
    ours, theirs = context().Pipe()
    with children.child(serve, (task, theirs), log) as child:
        theirs.close()
        try:
            yield TimedChild(name, child, ours)
        finally:
            ours.close()


@dataclass(frozen=True)
class Timings:
    """Paired bursts by target and batch size, and the reason for each target that could not be timed."""

    paired: Mapping[tuple[str, int], Sequence[Paired]]
    failed: Mapping[str, str]


def time_targets(
    children: Children,
    tasks: Mapping[str, TimeTask],
    batches: Sequence[int],
    *,
    seconds: float,
    processes: int,
    logs: Path,
    progress: Any = None,
) -> Timings:
    """Time every target beside eager, in `processes` fresh processes each, targets interleaved.

    Args:
        children: Where the processes are started and ended.
        tasks: What to time, by target; `eager@torch` among them.
        batches: Batch sizes.
        seconds: Burst time for each target and batch size, over all processes.
        processes: How many fresh processes of each target share that time.
        logs: Folder for what they print.
        progress: Called with a text before each batch size.
    """
    paired: dict[tuple[str, int], list[Paired]] = {}
    failed: dict[str, str] = {}
    for turn in range(processes):
        with contextlib.ExitStack() as stack:
            live = _start(stack, children, {name: task for name, task in tasks.items() if name not in failed}, logs)
            for timed in list(live.values()):
                _keep(live, failed, partial(timed.wait_ready, _REPLY_SECONDS))
            for batch in batches:
                if progress is not None:
                    progress(f"batch {batch}, round {turn + 1} of {processes}")
                for timed in list(live.values()):
                    # Warmed up alone, so that a target that refuses this batch leaves the others be.
                    _keep(live, failed, partial(timed.burst, batch, 0.0))
                _record(live, batch, seconds=seconds / processes, seed=turn, paired=paired, failed=failed)
    return Timings(paired, failed)


def _start(
    stack: contextlib.ExitStack, children: Children, tasks: Mapping[str, TimeTask], logs: Path
) -> dict[str, TimedChild]:
    return {
        name: stack.enter_context(timed_child(children, name, task, logs / f"{name.replace('/', '_')}.time.log"))
        for name, task in tasks.items()
    }


def _keep(live: dict[str, TimedChild], failed: dict[str, str], ask: Callable[[], object]) -> None:
    try:
        ask()
    except TimingFailedError as error:
        failed[error.target] = error.what
        live.pop(error.target, None)


def _record(
    live: dict[str, TimedChild],
    batch: int,
    *,
    seconds: float,
    seed: int,
    paired: dict[tuple[str, int], list[Paired]],
    failed: dict[str, str],
) -> None:
    """Sample one batch size; where a session dies in the middle, start it over without that one."""
    while live:
        try:
            bursts = interleave(live, batch, seconds, seed=seed)
        except TimingFailedError as error:
            failed[error.target] = error.what
            live.pop(error.target, None)
            continue
        eager = tuple(bursts.get(EAGER, ()))
        for name, own in bursts.items():
            paired.setdefault((name, batch), []).append(Paired(tuple(own), () if name == EAGER else eager))
        return
