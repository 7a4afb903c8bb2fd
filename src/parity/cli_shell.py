"""What every command shares: messages instead of tracebacks, progress, the console."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console

REQUEST_IS_WRONG = 2
INTERRUPTED = 130


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Errors of ours become one message and exit status 2, Ctrl-C becomes 130; neither has a traceback."""
    from parity.errors import ParityError  # noqa: PLC0415

    try:
        yield
    except ParityError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(REQUEST_IS_WRONG) from error
    except KeyboardInterrupt:
        typer.echo("interrupted: children are ended, and no report was written", err=True)
        raise typer.Exit(INTERRUPTED) from None


@contextlib.contextmanager
def exits() -> Iterator[None]:
    """Make 130 the exit status of an interrupted command for certain.

    CPython dies of the signal instead where Ctrl-C fell into an `exec`, of which imports have many, even
    though the interrupt was handled.
    """
    try:
        yield
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        atexit._run_exitfuncs()  # noqa: SLF001  # the only way to call them
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(INTERRUPTED)


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
