"""Temporary folders that go with their run: at its end, or at the next start where it was killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "parity-"
_LOCK = ".parity-lives"
"""A file that is locked for as long as its process lives. The kernel lets go of it, however the process ends."""


class scratch(tempfile.TemporaryDirectory[str]):  # noqa: N801  # used like a function
    """A temporary folder as a `Path`; those of runs that were killed are removed when one is made.

    Raises OSError where none can be made.
    """

    def __init__(self) -> None:
        remove_left()
        super().__init__(prefix=PREFIX, ignore_cleanup_errors=True)
        self._lock = _hold(Path(self.name))

    def __enter__(self) -> Path:  # type: ignore[override]  # a path is what every caller wants
        return Path(super().__enter__())

    def cleanup(self) -> None:
        """Remove the folder."""
        super().cleanup()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def is_scratch(folder: Path) -> bool:
    """Whether a folder is one that `scratch` has made, here or elsewhere."""
    return (folder / _LOCK).exists()


def remove_left() -> None:
    """Remove the folders of this user's runs that no longer live."""
    for folder in _own_folders():
        lock = folder / _LOCK
        with contextlib.suppress(OSError):
            descriptor = os.open(lock, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
            try:
                if _locked(descriptor):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)


def _own_folders() -> Iterator[Path]:
    if not hasattr(os, "getuid"):
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if not folder.is_symlink() and folder.is_dir() and folder.stat().st_uid == os.getuid():
                yield folder


def _hold(folder: Path) -> int | None:
    """Lock a folder's file; it gets its name when it is locked, so that nobody sees it otherwise."""
    with contextlib.suppress(OSError):
        unnamed = folder / f"{_LOCK}.new"
        descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        if _locked(descriptor):
            unnamed.replace(folder / _LOCK)
            return descriptor
        os.close(descriptor)
    return None


def _locked(descriptor: int) -> bool:
    """Whether the lock could be had; not where the system or the file system has none."""
    try:
        import fcntl  # noqa: PLC0415  # not on every system

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
