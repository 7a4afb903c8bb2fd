"""A folder that cannot be written to is told from whatever it stopped, and named with what to do next."""

from __future__ import annotations

import errno
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parity import storage
from parity.errors import StorageError
from parity.storage import Place, blaming, full, no_room, probe, raise_where_no_room, storing, unwritable

LIMITED = """
import io, resource, sys
from parity.storage import no_room
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
folder = sys.argv[1]
{imports}
try:
    {write}
except Exception as error:
    print(no_room(error) or f"not told: {{type(error)}} {{error}}")
else:
    print("written")
"""
WRITERS = {
    "python": ("", "open(folder + '/file', 'wb').write(bytes(1 << 17))"),
    "tofile": ("import numpy", "numpy.zeros(1 << 16).tofile(folder + '/file')"),
    "savez": ("import numpy", "numpy.savez(folder + '/file.npz', a=numpy.zeros(1 << 16))"),
    "torch.save": ("import torch", "torch.save(torch.zeros(1 << 16), folder + '/file')"),
}  # fmt: skip


def place(folder: Path, what: str = "the thing", hint: str = "choose another") -> Place:
    return Place(folder, what, hint)


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, int], None]:
    """Makes a folder one in which no temporary file can be made, for the reason given."""
    real = tempfile.TemporaryFile

    def close(folder: Path, number: int) -> None:
        def refuse(*args: Any, dir: Any = None, **options: Any) -> Any:  # noqa: A002  # the name that it has there
            if Path(dir) == folder:
                raise OSError(number, "told by the system", str(folder))
            return real(*args, dir=dir, **options)

        monkeypatch.setattr(tempfile, "TemporaryFile", refuse)

    return close


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit on the size of files")
@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_that_may_not_grow_is_told_whoever_writes_it(writer: str, tmp_path: Path) -> None:
    imports, write = WRITERS[writer]
    program = LIMITED.format(imports=imports, write=write)
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True, timeout=120
    )
    assert ended.stdout.strip() in ("the disk is full", "a file may not become as large as it must")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_device_is_told() -> None:
    with pytest.raises(OSError, match="No space left") as caught, Path("/dev/full").open("wb", buffering=0) as file:
        file.write(b"x")
    assert no_room(caught.value) == "the disk is full"


@pytest.mark.parametrize(
    "error",
    [
        ValueError("No space left on device"),  # no error of a system
        OSError(errno.ENOENT, "No such file or directory"),
        RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
        PermissionError(errno.EACCES, "Permission denied"),
        MemoryError(),
    ],
)
def test_other_errors_are_left_to_who_raised_them(error: Exception) -> None:
    assert no_room(error) == ""
    raise_where_no_room(error)


def test_what_a_full_disk_stopped_is_not_at_fault() -> None:
    error = RuntimeError("Failed to convert the exported program")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device", "/there/file")
    with pytest.raises(StorageError, match="the disk is full") as caught:
        raise_where_no_room(error)
    assert caught.value.where == "/there/file"


def test_a_folder_with_room_is_fine_and_stays_as_it_is(tmp_path: Path) -> None:
    assert probe(tmp_path) is None
    assert full([place(tmp_path), place(tmp_path / "not" / "yet")]) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk quota is used up"),
        (errno.EROFS, "the file system is read-only"),
        (errno.EACCES, "permission denied"),
    ],
)
def test_a_folder_that_cannot_be_written_to_is_named(
    number: int, reason: str, tmp_path: Path, closed: Callable[[Path, int], None]
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    closed(other, number)
    found = full([place(one), place(other, "the report", "--out DIR")])
    assert found is not None
    assert found.what == f"the report cannot be written: {reason}"
    assert (found.where, found.hint) == (str(other), "--out DIR")
    assert found.got is not None
    assert found.got.endswith(" free")


def test_an_error_goes_to_the_folder_that_is_full_and_else_to_the_one_that_holds_the_file(
    tmp_path: Path, closed: Callable[[Path, int], None]
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    places = [place(one, "the first", "one"), place(other, "the second", "two")]
    denied = PermissionError(errno.EACCES, "Permission denied", str(other / "file"))
    found = unwritable(denied, places)
    assert found is not None
    assert (found.what, found.where) == ("the second cannot be written: permission denied", str(other / "file"))
    closed(one, errno.ENOSPC)
    found = unwritable(OSError(errno.ENOSPC, "No space left on device"), places)
    assert found is not None
    assert (found.what, found.hint) == ("the first cannot be written: the disk is full", "one")


def test_where_the_room_is_back_all_folders_are_named(tmp_path: Path) -> None:
    found = unwritable(OSError(errno.ENOSPC, "No space left on device"), [place(tmp_path, hint="go elsewhere")])
    assert found is not None
    assert str(tmp_path) in str(found)
    assert "go elsewhere" in str(found)


def test_no_temporary_folder_at_all_is_one_message() -> None:
    found = unwritable(FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']"))
    assert found is not None
    assert "TMPDIR=" in str(found)


def test_other_errors_pass_through(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), blaming([place(tmp_path)]):
        (tmp_path / "none").read_text()
    with pytest.raises(FileNotFoundError), storing(place(tmp_path / "made")):
        (tmp_path / "none").read_text()
    assert not (tmp_path / "made").exists()


def test_what_is_stored_is_there_and_what_failed_leaves_no_folder(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "where"
    with storing(place(folder)):
        (folder / "file").write_text("x")
    assert (folder / "file").read_text() == "x"
    other = tmp_path / "else" / "where"
    with pytest.raises(StorageError) as caught, storing(place(other), needed=3 << 20):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.allowed == "3.0 MiB free"
    assert not (tmp_path / "else").exists()


def test_a_number_of_bytes_is_read_by_people() -> None:
    assert [storage.shown(size) for size in (12, 2048, 3 << 20, 5 << 30)] == [
        "12 bytes",
        "2.0 KiB",
        "3.0 MiB",
        "5.0 GiB",
    ]
