"""However a command ends, its user gets one message and the exit status that stands for it."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from parity.cli_shell import Terminated, guarded
from parity.errors import UsageError
from parity.reports import schema
from tests.diffing import made


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def ends(status: int) -> Iterator[None]:
    with pytest.raises(typer.Exit) as caught, guarded():
        yield
    assert caught.value.exit_code == status


def test_an_error_of_ours_is_its_message(capsys: pytest.CaptureFixture[str]) -> None:
    with ends(2):
        raise UsageError("this makes no sense", hint="try another")
    assert capsys.readouterr().err == "error: this makes no sense\n  next:    try another\n"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_a_folder_that_cannot_be_written_to_is_a_message(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    with ends(2):
        raise OSError(number, os.strerror(number), "/somewhere/file")
    told = capsys.readouterr().err
    assert told.startswith("error: a file cannot be written: ")
    assert "/somewhere/file" in told


def test_what_is_a_mistake_of_ours_is_not_hidden() -> None:
    with pytest.raises(FileNotFoundError), guarded():
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "x")


def test_sigterm_lets_blocks_end_and_counts_once(capsys: pytest.CaptureFixture[str]) -> None:
    ended = []
    with ends(143):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
        except Terminated:
            os.kill(os.getpid(), signal.SIGTERM)  # as `timeout` does: to the process, and to its group
            ended.append("cleaned up")
            raise
    assert ended == ["cleaned up"]
    assert capsys.readouterr().err == "terminated: children are ended, and no report was written\n"


def test_a_command_that_ends_well_leaves_the_signal_as_it_was() -> None:
    with guarded():
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_handler_of_the_caller_stays() -> None:
    def own(*_: object) -> None:
        return

    signal.signal(signal.SIGTERM, own)
    with guarded():
        assert signal.getsignal(signal.SIGTERM) is own


def test_another_thread_may_run_a_command() -> None:
    done = []

    def run() -> None:
        with guarded():
            done.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert done == [True]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("options", [(), ("--json",), ("--markdown",)])
def test_output_that_does_not_fit_is_a_message(options: tuple[str, ...], tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text(schema.to_json(made.report()), encoding="utf-8")
    command = [sys.executable, "-m", "parity", "diff", str(report), str(report), *options]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith("error: the output cannot be written\n")
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr
    healthy = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert healthy.returncode == 0, healthy.stderr
    assert healthy.stdout
