"""What `parity init` writes is whole, or not there."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from parity.errors import StorageError
from parity.scaffold import scaffold


def test_a_full_disk_leaves_no_half_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *_: Any, **__: Any) -> int:
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    folder = tmp_path / "project"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(StorageError, match=r"parity\.toml cannot be written: the disk is full") as caught:
            scaffold(folder)
    assert "parity init DIR" in str(caught.value)
    assert not folder.exists()
    assert {path.name for path in scaffold(folder)} == {"parity.toml", "test_parity.py"}
