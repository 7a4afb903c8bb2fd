"""What every command shares: messages instead of tracebacks, progress, the console."""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console

REQUEST_IS_WRONG = 2
INTERRUPTED = 130
TERMINATED = 143

_REPEATED = 1.0
"""Seconds within which another SIGTERM is the same one: `timeout` signals the process and then its group."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, as Ctrl-C is raised: what lets one through to the end of the command lets both."""


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Errors of ours become one message and exit status 2, Ctrl-C becomes 130 and SIGTERM 143; none has a traceback.

    A folder that cannot be written to is an error of ours, whoever ran into it.
    """
    from parity.errors import ParityError  # noqa: PLC0415

    try:
        with _terminable():
            yield
    except ParityError as error:
        _fail(error)
    except OSError as error:
        if error.errno == errno.EPIPE:  # nobody reads on, and typer says nothing of it
            raise
        from parity.storage import no_room, temporary_place, unwritable  # noqa: PLC0415

        known: ParityError | None = unwritable(error, (temporary_place(),))
        if error.filename is None and no_room(error):  # of all files, only what we print to has no name
            _drop_output()
            known = ParityError("the output cannot be written", where="standard output", got=str(error),
                                hint="write it to a place where there is room")  # fmt: skip
        if known is None:
            raise
        _fail(known)
    except Terminated:
        typer.echo("terminated: children are ended, and no report was written", err=True)
        raise typer.Exit(TERMINATED) from None
    except KeyboardInterrupt:
        typer.echo("interrupted: children are ended, and no report was written", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _fail(error: Exception) -> NoReturn:
    typer.echo(f"error: {error}", err=True)
    raise typer.Exit(REQUEST_IS_WRONG) from error


def _drop_output() -> None:
    """What standard output does not take is dropped: Python would try again at the exit, and complain."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM raises `Terminated` in the main thread while the block lasts, where it would end the process at once."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    seen: list[float] = []

    def end(*_: object) -> None:
        if not seen or time.monotonic() - seen[-1] >= _REPEATED:
            seen.append(time.monotonic())
            raise Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        # What is left to do once it came is short, and the same signal to the group may still come.
        signal.signal(signal.SIGTERM, signal.SIG_IGN if seen else signal.SIG_DFL)


@contextlib.contextmanager
def exits() -> Iterator[None]:
    """Make 130, or 143, the exit status of an interrupted command for certain.

    CPython dies of the signal instead where Ctrl-C fell into an `exec`, of which imports have many, even
    though the interrupt was handled.
    """
    try:
        yield
    except SystemExit as end:
        if end.code not in (INTERRUPTED, TERMINATED):
            raise
        atexit._run_exitfuncs()  # noqa: SLF001  # the only way to call them
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(INTERRUPTED if end.code == INTERRUPTED else TERMINATED)


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A line that says what runs now; in a log, a line for each step."""
    from rich.console import Console  # noqa: PLC0415

    terminal = Console(stderr=True)
    if not terminal.is_terminal:
        yield lambda text: terminal.print(f"parity: {text}", highlight=False, markup=False)
        return
    with terminal.status("starting") as status:
        yield status.update


def console() -> Console:
    """Standard output, as wide as the terminal is."""
    from rich.console import Console  # noqa: PLC0415

    return Console()


def thread_counts(text: str) -> tuple[int, ...]:
    """`1,2,all` as numbers, `all` being every processor that this process may use.

    Raises:
        UsageError: it is none of these.
    """
    from parity.environment import cores  # noqa: PLC0415
    from parity.errors import UsageError  # noqa: PLC0415

    try:
        counts = [cores() if part.strip() == "all" else int(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise UsageError("these numbers of threads cannot be read", allowed="1, or 1,2,all", got=text) from error
    return tuple(dict.fromkeys(counts))


def numbers(text: str) -> list[int]:
    """`1,8,32` as numbers; raises UsageError where one is not."""
    from parity.errors import UsageError  # noqa: PLC0415

    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise UsageError("these batch sizes cannot be read", allowed="1,8,32", got=text) from error
