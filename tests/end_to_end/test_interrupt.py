"""Ctrl-C: exit status 130, SIGTERM: 143, one message, no child left, and what lay in --out is as it was."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.end_to_end.bad_requests import listing
from tests.end_to_end.command import COMMAND, Project
from tests.end_to_end.processes import running, wait_until

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks at processes in /proc")

SLOW = """
import time

import torch

from model import Net


class Slow(Net):
    def forward(self, x):
        if torch.jit.is_tracing():
            print("tracing", flush=True)
            time.sleep(600)
        return super().forward(x)
"""


@pytest.fixture(scope="module")
def slow(project: Project) -> Project:
    """A project whose export never ends, with an earlier report in --out."""
    (project.folder / "slow.py").write_text(SLOW)
    out = project.folder / "kept"
    (out / "artifacts").mkdir(parents=True)
    (out / "report.json").write_text("an earlier report")
    (out / "artifacts" / "model.onnx").write_text("its artifact")
    return project


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """What is started in the block sees a Ctrl-C, also where these tests run as a shell's background job."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def interrupted(
    slow: Project, cache: str, out: str, ready: Callable[[], bool], number: int = signal.SIGINT, *, temporary: str = ""
) -> tuple[int, str]:
    """Start a report, press Ctrl-C in its terminal once `ready`, and return how it ended."""
    words = ("slow.py:Slow", "--input", "x: float32[N, 6]", "--samples", "heldout.npz", "--target", "trace")
    environment = slow.environment() | {"PARITY_CACHE": cache} | ({"TMPDIR": temporary} if temporary else {})
    with listening():
        process = subprocess.Popen(
            [*COMMAND, "report", *words, "--no-latency", "--out", out], cwd=slow.folder, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
    try:
        assert wait_until(ready, 120), "it never got so far"
        os.killpg(process.pid, number)  # a terminal signals the whole group
        text, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, text


def test_in_the_middle_of_an_export(slow: Project, tmp_path: Path) -> None:
    cache, out = str(tmp_path / "cache"), slow.folder / "kept"
    before = listing(out)
    log = out / "artifacts" / "trace" / "export.log"
    status, text = interrupted(slow, cache, "kept", lambda: log.is_file() and "tracing" in log.read_text())
    assert status == 130, text
    assert "interrupted: children are ended, and no report was written" in text
    assert "Traceback" not in text
    assert wait_until(lambda: not running(cache), 10), running(cache)
    assert listing(out) == before
    assert (out / "report.json").read_text() == "an earlier report"
    assert (out / "artifacts" / "model.onnx").read_text() == "its artifact"


def test_sigterm_in_the_middle_of_an_export(slow: Project, tmp_path: Path) -> None:
    cache, out, temporary = str(tmp_path / "cache"), slow.folder / "kept", tmp_path / "temporary"
    temporary.mkdir()
    before = listing(out)
    log = out / "artifacts" / "trace" / "export.log"

    def ready() -> bool:
        return log.is_file() and "tracing" in log.read_text() and any(temporary.glob("parity-*"))

    status, text = interrupted(slow, cache, "kept", ready, signal.SIGTERM, temporary=str(temporary))
    assert status == 143, text
    assert "terminated: children are ended, and no report was written" in text
    assert "Traceback" not in text
    assert wait_until(lambda: not running(cache), 10), running(cache)
    assert listing(out) == before
    assert list(temporary.iterdir()) == []
    assert not [each for each in Path(cache).iterdir() if each.is_dir()]


def test_sigterm_while_it_still_starts(slow: Project, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    status, text = interrupted(slow, cache, "fresh", lambda: len(running(cache)) >= 2, signal.SIGTERM)
    assert status in (143, -signal.SIGTERM), text
    assert "Traceback" not in text
    assert wait_until(lambda: not running(cache), 10), running(cache)
    assert not (slow.folder / "fresh").exists()


def test_while_it_still_starts(slow: Project, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    status, text = interrupted(slow, cache, "fresh", lambda: len(running(cache)) >= 2)
    assert status == 130, text
    assert "interrupted" in text
    assert "Traceback" not in text
    assert wait_until(lambda: not running(cache), 10), running(cache)
    assert not (slow.folder / "fresh").exists()


def test_a_killed_command_takes_its_children_with_it(slow: Project, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    log = slow.folder / "killed" / "artifacts" / "trace" / "export.log"
    words = ("slow.py:Slow", "--input", "x: float32[N, 6]", "--target", "trace")
    process = subprocess.Popen(
        [*COMMAND, "report", *words, "--no-latency", "--out", "killed"], cwd=slow.folder,
        env=slow.environment() | {"PARITY_CACHE": cache}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert wait_until(lambda: log.is_file() and "tracing" in log.read_text(), 120)
    process.kill()
    process.wait(10)
    assert wait_until(lambda: not running(cache), 10), running(cache)
    assert not (slow.folder / "killed" / "report.json").exists()
