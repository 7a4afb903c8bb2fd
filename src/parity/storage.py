"""Folders that cannot be written to: a full disk, a quota, a read-only file system, a refusal; and whose they are."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from parity.errors import StorageError

PROBE_BYTES = 64 << 10
"""What must fit into a folder that is not full. A write that failed has left less than one block free, and no file
system in use has larger ones."""

_ROOM = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "a file may not become as large as it must",
}
_REFUSED = {
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
}
_REASONS = _ROOM | _REFUSED

_SAYS = re.compile(
    r"No space left on device|Disk quota exceeded|^\d+ requested and \d+ written"
    r"|unexpected pos \d+ vs \d+|PytorchStreamWriter failed writing .*file write failed"
)
"""What is said of a full disk by those who raise no errno: libraries in other languages, NumPy, torch's archives."""


@dataclass(frozen=True)
class Place:
    """A folder that a run writes to: what for, and what to do where it cannot be written to."""

    folder: Path
    what: str
    hint: str


def temporary_place() -> Place:
    """Where temporary files lie; the current folder where the system has no place for them."""
    hint = "make room there, or choose another folder: TMPDIR=/another/folder parity ..."
    try:
        return Place(Path(tempfile.gettempdir()), "temporary files", hint)
    except FileNotFoundError:
        return Place(Path(os.environ.get("TMPDIR", "/tmp")), "temporary files", hint)  # noqa: S108  # named, not used


def no_room(error: BaseException) -> str:
    """Why something could not be written, where this error or one behind it says that there is no room; else empty."""
    for each in _chain(error):
        if isinstance(each, OSError) and each.errno in _ROOM:
            return _ROOM[each.errno]
        if isinstance(each, (OSError, RuntimeError)) and _SAYS.search(str(each)):
            return _ROOM[errno.ENOSPC]
    return ""


def raise_where_no_room(error: BaseException) -> None:
    """Raises StorageError where this error only says that a disk is full: whoever raised it is not at fault."""
    if isinstance(error, StorageError):
        raise error
    reason = no_room(error)
    if reason:
        raise StorageError(reason, where=_named(error), got=_first_line(error)) from error


def unwritable(error: BaseException, places: Sequence[Place] = ()) -> StorageError | None:
    """The message for an error of a folder that cannot be written to; None for any other error.

    Args:
        error: What was raised.
        places: Where it may have been: each is tried, since few errors name the file.
    """
    if isinstance(error, StorageError):
        return _blamed(error, places)
    reason = no_room(error)
    if not reason and isinstance(error, OSError):
        reason = _REASONS.get(error.errno or 0, "")
        if not reason and "No usable temporary directory" in str(error):
            place = temporary_place()
            return StorageError(f"{place.what} cannot be written", where=str(place.folder), got=str(error.strerror),
                                hint=place.hint)  # fmt: skip
    if not reason:
        return None
    return _blamed(StorageError(reason, where=_named(error), got=_first_line(error)), places)


def full(places: Sequence[Place]) -> StorageError | None:
    """The message for those of these folders that cannot be written to; None where each can."""
    problems = [(place, problem) for place in places if (problem := probe(place.folder)) is not None]
    if not problems:
        return None
    place, problem = problems[0]
    reason = _REASONS.get(problem.errno or 0, problem.strerror or str(problem))
    return StorageError(
        f"{' and '.join(dict.fromkeys(each.what for each, _ in problems))} cannot be written: {reason}",
        where=", ".join(dict.fromkeys(str(each.folder) for each, _ in problems)),
        got=f"{_free(place.folder)} free",
        hint="; ".join(dict.fromkeys(each.hint for each, _ in problems)),
    )


def probe(folder: Path) -> OSError | None:
    """What is in the way of writing to a folder, or to the nearest one above it that exists; nothing is left there.

    It is tried for real: permission bits say nothing on a read-only file system, nor free bytes of a quota.
    """
    try:
        with tempfile.TemporaryFile(dir=existing(folder)) as file:
            file.write(bytes(PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error
    return None


def existing(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    return next(each for each in (folder, *folder.absolute().parents) if os.path.lexists(each))


@contextlib.contextmanager
def storing(place: Place, needed: int | None = None) -> Iterator[None]:
    """Errors of a folder that cannot be written to become a StorageError; a folder that is made meanwhile goes again.

    Args:
        place: What is written, and where.
        needed: Bytes that it takes, where that is known.

    Raises:
        StorageError: it cannot be written.
    """
    missing = [path for path in (place.folder, *place.folder.absolute().parents) if not path.exists()]
    try:
        place.folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        reason = no_room(error) or _REASONS.get(error.errno or 0, "")
        free = _free(place.folder)
        _remove_empty(missing)
        if not reason:
            raise
        raise StorageError(
            f"{place.what} cannot be written: {reason}",
            where=str(place.folder),
            allowed=f"{shown(needed)} free" if needed is not None else None,
            got=f"{free} free, {_first_line(error)}",
            hint=place.hint,
        ) from error
    except BaseException:
        _remove_empty(missing)
        raise


@contextlib.contextmanager
def blaming(places: Sequence[Place]) -> Iterator[None]:
    """Errors of a folder that cannot be written to become a StorageError that names which of these it is."""
    try:
        yield
    except (OSError, StorageError) as error:
        found = unwritable(error, places)
        if found is None or found is error:
            raise
        raise found from error


def shown(size: int) -> str:
    """A number of bytes for people."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} bytes"


def _blamed(error: StorageError, places: Sequence[Place]) -> StorageError:
    if error.hint:
        return error  # whoever raised it knew the folder
    found = full(places)
    if found is None:
        named = Path(error.where).absolute() if error.where else None
        holding = [each for each in places if named is not None and named.is_relative_to(each.folder.absolute())]
        candidates = holding[:1] or places
        found = StorageError(
            f"{candidates[0].what if holding else 'a file'} cannot be written: {error.what}",
            where=error.where or ", or ".join(f"{each.folder} ({_free(each.folder)} free)" for each in candidates),
            got=error.got,
            hint="; ".join(dict.fromkeys(each.hint for each in candidates))
            or "make room there, or choose another folder",
        )
    return found


def _remove_empty(folders: Sequence[Path]) -> None:
    for path in folders:
        with contextlib.suppress(OSError):
            path.rmdir()


def _free(folder: Path) -> str:
    try:
        return shown(shutil.disk_usage(existing(folder)).free)
    except OSError:
        return "an unknown number of bytes"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that it was raised from or because of."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop(0)
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [each.__cause__, each.__context__]


def _named(error: BaseException) -> str | None:
    """The file that could not be written: the second where something was copied."""
    for each in _chain(error):
        name = (each.filename2 or each.filename) if isinstance(each, OSError) else None
        if name is not None:
            return os.fsdecode(name) if isinstance(name, (str, bytes)) else None
    return None


def _first_line(error: BaseException) -> str:
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text}"[:300] if text else type(error).__name__
