"""Which processes of a project are still there; they are told by the cache in their environment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def running(cache: str) -> list[int]:
    """Processes that have the project's cache in their environment, this one left out."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"PARITY_CACHE={cache}\0".encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether a condition came true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()
