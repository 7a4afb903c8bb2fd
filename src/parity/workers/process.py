"""One task, one child process: started from a forkserver that has torch loaded, watched, and ended."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parity.errors import ModelError, ParityError, StorageError, UsageError
from parity.records import Symptom
from parity.storage import Place, full, temporary_place, unwritable
from parity.workers.entry import IN_CHILD, Reply, perform, run_child
from parity.workers.starting import added_environment, without_interrupts, without_main

if TYPE_CHECKING:
    from typing_extensions import Self

PRELOAD = [
    "torch",
    "numpy",
    "parity.workers.export",
    "parity.workers.reference",
    "parity.workers.run",
    "parity.workers.preload",
]
"""What the forkserver loads once, so that no child has to."""

_PASSIVE = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0"}
"""Idle OpenMP threads sleep instead of spinning beside whoever is being timed."""

STARTING = threading.Lock()
"""Held while a child is started, which changes this process for a moment, and while an exit status is read."""


@dataclass(frozen=True)
class Outcome:
    """How a task ended. `value` is there with symptom `ok` only; `log` holds all that was printed."""

    symptom: Symptom
    seconds: float
    log: Path
    value: Any = None
    error: ParityError | None = None
    message: str = ""
    peak_bytes: int | None = None


def refuse_recursion() -> None:
    """Raises UsageError inside a child: the caller's script has no main guard and is being run again."""
    if os.environ.get(IN_CHILD):
        raise UsageError(
            "parity was called while one of its own child processes was importing this script",
            hint='put the call under `if __name__ == "__main__":`',
        )


def context() -> BaseContext:
    """The forkserver where there is one, spawn elsewhere."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    chosen = multiprocessing.get_context("forkserver")
    chosen.set_forkserver_preload(PRELOAD)
    return chosen


@contextlib.contextmanager
def early_forkserver() -> Iterator[None]:
    """Let the forkserver import what children need while this process is still reading the request.

    It is killed when the block is left: it would finish its imports before it sees that nobody needs them.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods() or os.environ.get(IN_CHILD):
        yield
        return
    from multiprocessing import forkserver  # noqa: PLC0415  # not on every system

    context()  # says what to preload
    with STARTING, added_environment(_PASSIVE), without_interrupts():
        forkserver.ensure_running()
    try:
        yield
    finally:
        with contextlib.suppress(AttributeError, TypeError, OSError):
            # There is no public way. It is not waited for, so that multiprocessing sees that it has to start another.
            os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)  # type: ignore[attr-defined]  # noqa: SLF001


class Child:
    """A started child process and the pipe to it."""

    def __init__(self, task: Callable[..., Any], args: tuple[Any, ...], log: Path) -> None:
        refuse_recursion()
        chosen = context()
        self.connection: Connection
        self.connection, theirs = chosen.Pipe()
        self._process: BaseProcess = chosen.Process(  # type: ignore[attr-defined]  # every context has it
            target=run_child, args=(theirs, task, args, log), daemon=True
        )
        with STARTING, without_main(), added_environment(_PASSIVE), without_interrupts():
            self._process.start()
        theirs.close()

    @property
    def pid(self) -> int | None:
        """The process."""
        return self._process.pid

    def receive(self, timeout: float | None) -> Any:
        """The next message; raises TimeoutError, or EOFError where the child is gone.

        What the child has forked may hold its end of the pipe open, so that its own end counts as well.
        """
        ready = wait([self.connection, self._process.sentinel], timeout)
        if not ready:
            raise TimeoutError
        if self.connection not in ready and not self.connection.poll():
            raise EOFError
        return self.connection.recv()

    def died(self) -> str:
        """How a child that sent nothing ended, with the signal's name."""
        code = self._exit_code(5)
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"the worker was killed by {signal.Signals(-code).name}"
        return f"the worker ended with exit status {code}"

    def kill(self) -> None:
        """Kill the child and everything that it started; any thread may.

        Its process group outlives it where it started something, however it ended itself.
        """
        pid = self._process.pid
        if pid is not None:
            with contextlib.suppress(OSError, AttributeError):
                os.killpg(pid, signal.SIGKILL)
            self._process.kill()

    def end(self) -> None:
        """Kill the child, wait for it and close the pipe.

        For the one thread that started it: a descriptor that two threads close may be somebody else's by then.
        """
        self.kill()
        self._exit_code(5)
        self.connection.close()

    def _exit_code(self, timeout: float) -> int | None:
        """Wait for the end. The status can be read once only, and starting another child reads everybody's."""
        wait([self._process.sentinel], timeout)
        with STARTING:
            return self._process.exitcode


@dataclass
class Children:
    """Starts children, and ends those that still live when the block is left, also by Ctrl-C.

    With `in_process` every task runs in this process instead, for a debugger. `places` are the folders that all of them
    write to: what ends badly where one of them is full says nothing about the task.
    """

    in_process: bool = False
    places: Sequence[Place] = ()
    _alive: set[Child] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closed: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_all()

    def end_all(self) -> None:
        """Kill every child that is alive; none can be started afterwards.

        Whoever started one is woken by its end, and closes what belongs to it.
        """
        with self._lock:
            self._closed = True
            alive = list(self._alive)
        for child in alive:
            child.kill()

    @contextlib.contextmanager
    def child(self, task: Callable[..., Any], args: tuple[Any, ...], log: Path) -> Iterator[Child]:
        """A child that is ended when the block is left."""
        started = Child(task, args, log)
        with self._lock:
            self._alive.add(started)
        try:
            if self._closed:
                raise InterruptedError("the run is over")
            yield started
        finally:
            with self._lock:
                self._alive.discard(started)
            started.end()

    def run(
        self, task: Callable[..., Any], *args: Any, log: Path, timeout: float, also: Sequence[Place] = ()
    ) -> Outcome:
        """Run one task to its end. What the task does is the outcome, and never raised.

        Args:
            task: A function that children find by name.
            args: Its arguments.
            log: Gets what it prints.
            timeout: Seconds after which it is stopped.
            also: Folders that it writes to, besides `places`.

        Raises:
            StorageError: it did not end well, and a folder that it writes to cannot be written to.
        """
        start = time.perf_counter()
        if self.in_process:
            reply = perform(task, args)
        else:
            with self.child(task, args, log) as child:
                try:
                    reply = child.receive(timeout)
                except TimeoutError:
                    reply = Reply(Symptom.TIMEOUT, message=f"still running after {timeout:g} s, and stopped")
                except (EOFError, OSError):  # OSError: another thread has ended all children
                    reply = Reply(Symptom.CRASH, message=child.died())
        seconds = time.perf_counter() - start
        if isinstance(reply.error, StorageError):
            raise unwritable(reply.error, self._places(also)) or reply.error
        if reply.symptom not in (Symptom.OK, Symptom.UNSUPPORTED):
            self.check_room(also)
        return Outcome(
            reply.symptom, seconds, log, reply.value, reply.error, reply.message, peak_bytes=reply.peak_bytes
        )

    def check_room(self, also: Sequence[Place] = ()) -> None:
        """Raises StorageError where a folder that tasks write to cannot be written to."""
        problem = full(self._places(also))
        if problem is not None:
            raise problem

    def _places(self, also: Sequence[Place]) -> tuple[Place, ...]:
        return (*self.places, temporary_place(), *also)


def value_of(outcome: Outcome, what: str) -> Any:
    """The value of a stage that the whole run stands on; anything else is an error for the user."""
    if outcome.symptom is Symptom.OK:
        return outcome.value
    if isinstance(outcome.error, ParityError):
        raise outcome.error
    raise ModelError(
        f"{what}: {outcome.symptom}: {outcome.message}",
        got=_last_line(outcome.log),
        hint="the same command with --in-process shows all of it",
    )


def _last_line(log: Path) -> str | None:
    """What a stage printed last; its log goes with the run that it ends."""
    with contextlib.suppress(OSError):
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), None)
    return None
