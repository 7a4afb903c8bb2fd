"""A Python program in a process of its own, forked from the server that starts parity's children.

An interpreter that the shell starts spends 7 s of a core on importing torch and ONNX, twice, before it does what
a test is about. The server has both in memory, so that a command and its children are there at once: with its own
folder, environment, arguments and streams, as after the shell.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_all_start_methods
from multiprocessing.connection import wait
from pathlib import Path

from parity.workers.process import _PASSIVE, STARTING, context
from parity.workers.starting import added_environment, without_interrupts, without_main

AVAILABLE = "forkserver" in get_all_start_methods() and sys.version_info < (3, 14)
"""From 3.14 on the server answers only to who has its key, which its children have not."""

SECONDS = 240.0


@dataclass(frozen=True)
class Ended:
    """How a program ended, and all that it printed."""

    status: int
    stdout: str
    stderr: str


def run_forked(
    program: Callable[[], int | None],
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    seconds: float = SECONDS,
) -> Ended:
    """Call a program that reads `sys.argv`, as its console script would.

    Args:
        program: A function of a module; what it returns or exits with is the status, as of a console script.
        arguments: All of `sys.argv`.
        folder: Where it is called.
        environment: The whole environment of the process.
        seconds: After these it is killed.

    Raises:
        TimeoutError: it was killed.
    """
    with tempfile.TemporaryDirectory() as streams:
        stdout, stderr = Path(streams, "stdout"), Path(streams, "stderr")
        process = context().Process(  # type: ignore[attr-defined]  # every context has it
            target=_call, args=(program, tuple(arguments), folder, dict(environment), (stdout, stderr))
        )
        with STARTING, without_main(), added_environment(_PASSIVE), without_interrupts():
            process.start()
        if not wait([process.sentinel], seconds):
            process.kill()
            raise TimeoutError(f"{' '.join(arguments)} is still running after {seconds:g} s")
        with STARTING:
            status = process.exitcode
        return Ended(status, *(path.read_text(encoding="utf-8") for path in (stdout, stderr)))


def run_code(
    code: str,
    *arguments: str | Path,
    folder: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Ended:
    """The same for `python -c`, which has torch loaded already: not for what is said of importing it."""
    program = partial(_execute, code)
    return run_forked(program, ("-c", *map(str, arguments)), folder or Path.cwd(), environment)


def _execute(code: str) -> None:
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102  # a test's own code


def _call(
    program: Callable[[], int | None],
    arguments: tuple[str, ...],
    folder: Path,
    environment: dict[str, str],
    streams: tuple[Path, Path],
) -> None:
    _share_forkserver()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.argv = list(arguments)
    for descriptor, path in enumerate(streams, 1):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.exit(program())


def _share_forkserver() -> None:
    """Let this process ask the server that it comes from for its own children, instead of starting another one."""
    from multiprocessing import forkserver, resource_tracker

    for owner in (forkserver, forkserver._forkserver):  # there is no public way
        vars(owner)["ensure_running"] = resource_tracker.ensure_running
