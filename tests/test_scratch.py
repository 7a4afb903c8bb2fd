"""A temporary folder goes with its run, or at the next start where the run was killed; never while it lives."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from parity.scratch import PREFIX, is_scratch, scratch

HOLD = """
import time
from parity.scratch import scratch
made = scratch()
print(made.name, flush=True)
time.sleep(600)
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no locks of this kind")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_gone_at_the_end_also_by_an_exception(temporary: Path) -> None:
    with scratch() as folder:
        assert is_scratch(folder)
        (folder / "file").write_text("x")
    with pytest.raises(KeyboardInterrupt), scratch():
        raise KeyboardInterrupt
    assert list(temporary.iterdir()) == []
    assert not is_scratch(temporary)


def test_that_of_a_killed_run_is_removed_at_the_next_start_and_that_of_a_living_one_is_not() -> None:
    killed, living = (
        subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True) for _ in range(2)
    )
    try:
        assert killed.stdout is not None
        assert living.stdout is not None
        left, used = (Path(each.stdout.readline().strip()) for each in (killed, living) if each.stdout)
        with scratch() as own:
            assert {each.exists() for each in (left, used, own)} == {True}
            killed.kill()
            killed.wait(10)
            with scratch():
                assert not left.exists()
                assert used.is_dir()
                assert own.is_dir()
    finally:
        for each in (killed, living):
            each.kill()
            each.communicate()


def test_folders_of_others_that_only_have_such_a_name_stay(temporary: Path) -> None:
    other = temporary / f"{PREFIX}somebody"
    other.mkdir()
    (other / "file").write_text("x")
    with scratch():
        assert (other / "file").read_text() == "x"
