"""What the children of these tests do; a child finds each by name."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from parity.errors import ModelError, Unsupported


def add(one: int, other: int) -> int:
    return one + other


def fail() -> None:
    print("before it failed")
    raise ValueError("the line that matters\nand one that does not")


def fail_as_ours() -> None:
    raise ModelError("the weights do not fit", where="w.pt", hint="train again")


def decline() -> None:
    raise Unsupported("there is nothing to quantize", hint="leave it out")


def find_the_disk_full() -> None:
    raise RuntimeError("the exporter failed") from OSError(errno.ENOSPC, "No space left on device", "/there/weights")


def decline_on_a_full_disk() -> None:
    raise Unsupported("this model cannot be saved") from OSError(errno.EDQUOT, "Disk quota exceeded")


def talk() -> str:
    print("from python")
    print("from python, to stderr", file=sys.stderr)
    os.write(1, b"from below python\n")
    subprocess.run([sys.executable, "-c", "print('from a child of the child')"], check=True)
    return "said"


def kill_itself(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(60)


def segfault() -> None:
    import ctypes

    ctypes.string_at(0)


def leave(status: int) -> None:
    os._exit(status)


def exit_quietly() -> None:
    sys.exit(3)


def unpicklable() -> object:
    return lambda: None


def hang(told: Path) -> None:
    told.write_text(str(os.getpid()))
    while True:
        time.sleep(60)


def ignore_everything(told: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    hang(told)


def hang_with_grandchild(told: Path) -> None:
    grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    told.write_text(f"{os.getpid()} {grandchild.pid}")
    time.sleep(600)


def crash_beside_grandchild(told: Path) -> None:
    """The grandchild is a fork, and so holds every pipe of its parent open."""
    pid = os.fork()
    if pid == 0:
        time.sleep(600)
    told.write_text(f"{os.getpid()} {pid}")
    os.kill(os.getpid(), signal.SIGKILL)


def finish_beside_grandchild(told: Path) -> int:
    grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    told.write_text(f"{os.getpid()} {grandchild.pid}")
    return 1


def use_memory(megabytes: int) -> int:
    return int(np.ones(megabytes << 17).sum())


def environment(name: str) -> str | None:
    return os.environ.get(name)


def main_file() -> str | None:
    return getattr(sys.modules["__main__"], "__file__", None)


def leave_a_lock() -> None:
    """As importing tqdm does, which many models' code imports."""
    KEPT.append(multiprocessing.get_context("forkserver").RLock())


KEPT: list[object] = []
