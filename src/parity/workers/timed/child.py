"""The parent's side of a timed session."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeVar

from parity.errors import ParityError
from parity.latency.bursts import Burst
from parity.records import Symptom
from parity.workers.process import Child, Children, context
from parity.workers.timed.serving import Failed, Opened, TimeTask, Warm, serve

T = TypeVar("T")

TIMEOUT = 120.0
"""Seconds that a session may take to open, to warm up, or for a burst, where nothing else is said."""


class TimingFailedError(ParityError):
    """A timed session gave no times; `target` says which, and `symptom` how it ended."""

    def __init__(self, target: str, what: str, symptom: Symptom = Symptom.EXCEPTION) -> None:
        super().__init__(what)
        self.target = target
        self.symptom = symptom


class TimedChild:
    """A session in a process of its own. One request at a time: what is asked has to be answered first.

    Every answer has to come within `timeout` seconds of its request; opening is the first one.
    """

    def __init__(self, name: str, child: Child, connection: Connection, timeout: float = TIMEOUT) -> None:
        self.name = name
        self.connection = connection
        self.timeout = timeout
        self._child = child
        self._asked = time.monotonic()

    @property
    def pid(self) -> int | None:
        """The process."""
        return self._child.pid

    def opened(self) -> Opened:
        """How long opening took; raises TimingFailedError with the reason where it did not open."""
        return self._answer(Opened)

    def ask_warm(self, batch: int) -> None:
        """Let it warm up at a batch size; `warm` waits for it."""
        self._send((batch,))

    def warm(self) -> Warm:
        """What warming up has shown; raises TimingFailedError where the session refuses the batch size."""
        return self._answer(Warm)

    def burst(self, batch: int, seconds: float, processors: tuple[int, ...] | None) -> Burst:
        """One burst at a batch size that is warm; raises TimingFailedError where there is none."""
        self._send((batch, seconds, processors))
        return self._answer(Burst)

    def _send(self, request: tuple[Any, ...]) -> None:
        self._asked = time.monotonic()
        try:
            self.connection.send(request)
        except OSError as error:
            raise TimingFailedError(self.name, self._child.died(), Symptom.CRASH) from error

    def _answer(self, kind: type[T]) -> T:
        try:
            if not self.connection.poll(max(self._asked + self.timeout - time.monotonic(), 0)):
                raise TimingFailedError(self.name, f"no answer for {self.timeout:g} s", Symptom.TIMEOUT)
            answer = self.connection.recv()
        except (EOFError, ConnectionError):
            reply = None
            with contextlib.suppress(EOFError, OSError, TimeoutError):
                reply = self._child.receive(5)
            if reply is None:
                raise TimingFailedError(self.name, self._child.died(), Symptom.CRASH) from None
            raise TimingFailedError(self.name, reply.message, reply.symptom) from None
        if isinstance(answer, Failed):
            raise TimingFailedError(self.name, answer.message)
        assert isinstance(answer, kind), answer  # noqa: S101  # both ends are ours
        return answer


@contextlib.contextmanager
def timed_child(
    children: Children, name: str, task: TimeTask, log: Path, timeout: float = TIMEOUT
) -> Iterator[TimedChild]:
    """A session in a fresh process, open while the block lasts."""
    ours, theirs = context().Pipe()
    with children.child(serve, (task, theirs), log) as child:
        theirs.close()
        try:
            yield TimedChild(name, child, ours, timeout)
        finally:
            ours.close()


def few_at_once(starts: Iterable[Callable[[], TimedChild]], slots: int) -> Iterator[TimedChild]:
    """Children in the order in which they have an answer; each start gives one something to do, `slots` at once.

    More of them than there are cores would time each other, and load times and first calls would be about that.
    """
    pending = iter(starts)
    busy: dict[Connection, TimedChild] = {}
    while True:
        while len(busy) < slots and (start := next(pending, None)) is not None:
            child = start()
            busy[child.connection] = child
        if not busy:
            return
        longest = max(child.timeout for child in busy.values())
        ready = wait(list(busy), longest) or list(busy)  # asking them for their answer says that there is none
        for connection in ready:
            yield busy.pop(connection)  # type: ignore[call-overload]  # only connections were waited for
