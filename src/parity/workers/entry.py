"""What runs inside a child process before and after its task."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from parity.errors import ParityError, StorageError, Unsupported
from parity.records import Symptom
from parity.storage import raise_where_no_room
from parity.workers.memory import peak_bytes, reset_peak

IN_CHILD = "PARITY_CHILD"
"""Set in the environment of every child: a script that calls parity without a main guard would recurse."""


@dataclass(frozen=True)
class Reply:
    """What a child sends when its task is over: a value, or what took its place."""

    symptom: Symptom
    value: Any = None
    error: ParityError | None = None
    message: str = ""
    peak_bytes: int | None = None


def run_child(connection: Connection, task: Callable[..., Any], args: tuple[Any, ...], log: Path) -> None:
    """Run one task and send its `Reply`; everything printed goes to the log."""
    with contextlib.suppress(OSError, AttributeError):
        os.setsid()  # a group of its own: Ctrl-C reaches the parent alone, and the group can be killed whole
    os.environ[IN_CHILD] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # children inherit what the parent held back when they were started
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    _follow_parent()
    try:
        _redirect(log)
    except OSError as error:
        problem = StorageError(error.strerror or str(error), where=str(log), got=str(error))
        connection.send(Reply(Symptom.EXCEPTION, error=problem, message=problem.what))
        os._exit(0)
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    warnings.filterwarnings("ignore", category=FutureWarning)
    before = reset_peak()
    reply = perform(task, args)
    peak = peak_bytes()
    if peak is not None and before is not None:
        reply = Reply(reply.symptom, reply.value, reply.error, reply.message, max(peak - before, 0))
    for stream in (sys.stdout, sys.stderr):  # before the reply, at which the parent may end this process
        with contextlib.suppress(OSError):  # the end of a log is lost on a full disk, and what was found is not
            stream.flush()
    connection.send(reply)
    connection.close()
    os._exit(0)  # runtimes are known to crash or hang while they are taken apart at exit


def perform(task: Callable[..., Any], args: tuple[Any, ...]) -> Reply:
    """Run a task; whatever it raises becomes a reply. A full disk is one, whatever it was that it stopped."""
    try:
        return _answered(task, args)
    except StorageError as error:
        if os.environ.get(IN_CHILD):
            with contextlib.suppress(OSError):
                traceback.print_exc()
        return Reply(Symptom.EXCEPTION, error=error, message=error.what)


def _answered(task: Callable[..., Any], args: tuple[Any, ...]) -> Reply:
    try:
        return Reply(Symptom.OK, value=task(*args))
    except StorageError:
        raise
    except Unsupported as error:
        raise_where_no_room(error)
        return Reply(Symptom.UNSUPPORTED, error=error, message=str(error.what))
    except ParityError as error:
        raise_where_no_room(error)
        if os.environ.get(IN_CHILD):  # for the log; in the user's own process the message says it all
            traceback.print_exc()
        return Reply(Symptom.EXCEPTION, error=error, message=error.what)
    except Exception as error:  # noqa: BLE001  # a stage boundary: the exception becomes the cell's record
        raise_where_no_room(error)
        traceback.print_exc()
        return Reply(Symptom.EXCEPTION, message=useful_line(error))


def useful_line(error: BaseException) -> str:
    """The one line of an exception that tells a reader most: its type and its first line with words.

    An exporter's own exception may only say that it failed; then it is that of its cause. A line that ends with a
    colon announces the next one, and both are told.
    """
    text = _NOISE.sub("", str(error))
    if text.startswith(_SAYS_NOTHING) and error.__cause__ is not None:
        return useful_line(error.__cause__)
    lines = [line.strip() for line in text.splitlines() if any(letter.isalnum() for letter in line)]
    if lines and lines[0].startswith(_TORCHSCRIPT):
        lines = lines[-1:]  # the source comes first, and what went wrong in it last
    informative = [line for line in lines if not line.startswith(_PREAMBLE)]
    first = next(iter(informative or lines), "")
    if first.endswith(":") and first != lines[-1]:
        first = f"{first} {lines[lines.index(first) + 1].lstrip('- ')}"
    return f"{type(error).__name__}: {first}"[:400] if first else type(error).__name__


_PREAMBLE = ("Failed to export the model", "The above", "Traceback", "This is step", "## Exception summary", "- ")
_SAYS_NOTHING = ("Failed to convert the exported program", "Failed to decompose", "Error when translating node")
_NOISE = re.compile(r"\x1b\[[0-9;]*m|^<class '[\w.]+'>: | at 0x[0-9a-f]+", re.MULTILINE)
"""Colours, what an exporter writes before the message of an exception that it quotes, and addresses."""
_TORCHSCRIPT = "The following operation failed in the TorchScript interpreter"


def _redirect(log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    faulthandler.enable(file=sys.stderr)


def _follow_parent() -> None:
    """End this process when the parent is gone, however it went."""
    from multiprocessing import parent_process  # noqa: PLC0415  # only meaningful in a child

    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parity-follow-parent").start()
