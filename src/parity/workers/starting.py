"""What is changed in this process while it starts another, and is as it was afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import types
from collections.abc import Iterator

_NO_LEAKS = {"PYTHONWARNINGS": "ignore:resource_tracker"}
"""Children leave without tidying up, and some crash: locks that a model's code made (importing tqdm is enough) are
removed by multiprocessing's tracker, which would tell the user that they had leaked."""


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """Children get everything by name; importing the caller's script again would only run it twice."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def added_environment(values: dict[str, str]) -> Iterator[None]:
    """Set what is not set, for the start of one process alone."""
    added = {key: value for key, value in values.items() if key not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for key in added:
            os.environ.pop(key, None)


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """What is started meanwhile never sees a Ctrl-C or SIGTERM, not even before its first line has run.

    The signal is for this process, which gets it when the block is left, and ends the others.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker  # noqa: PLC0415  # not on every system

    with added_environment(_NO_LEAKS):
        resource_tracker.ensure_running()  # starting it lets interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
