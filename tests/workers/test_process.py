"""Whatever a task does to its process, the parent gets an outcome, and nothing is left running."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest

from parity.errors import ModelError, StorageError, Unsupported, UsageError
from parity.records import Symptom
from parity.storage import Place
from parity.workers.entry import IN_CHILD, useful_line
from parity.workers.process import STARTING, Child, Children, Outcome, refuse_recursion
from tests.workers import tasks

LONG = 60.0


@pytest.fixture
def children() -> Iterator[Children]:
    with Children() as started:
        yield started


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "task.log"


def gone(pid: int, within: float = 5.0) -> bool:
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def pids(told: Path) -> list[int]:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if told.exists() and told.read_text().strip():
            return [int(each) for each in told.read_text().split()]
        time.sleep(0.02)
    raise AssertionError("the child never started")


def test_a_value_comes_back_with_the_memory_that_it_took(children: Children, log: Path) -> None:
    outcome = children.run(tasks.add, 2, 3, log=log, timeout=LONG)
    assert (outcome.symptom, outcome.value, outcome.message, outcome.error) == (Symptom.OK, 5, "", None)
    assert outcome.log == log
    assert outcome.seconds > 0


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="this system does not reset the peak")
def test_peak_memory_is_the_tasks_own(children: Children, log: Path) -> None:
    small = children.run(tasks.use_memory, 1, log=log, timeout=LONG).peak_bytes
    large = children.run(tasks.use_memory, 200, log=log, timeout=LONG).peak_bytes
    assert small is not None
    assert large is not None
    assert small < 60 << 20
    assert 190 << 20 < large < 300 << 20


def test_an_exception_becomes_the_line_that_matters_and_its_traceback_is_logged(children: Children, log: Path) -> None:
    outcome = children.run(tasks.fail, log=log, timeout=LONG)
    assert (outcome.symptom, outcome.value) == (Symptom.EXCEPTION, None)
    assert outcome.message == "ValueError: the line that matters"
    assert "before it failed" in log.read_text()
    assert "Traceback" in log.read_text()


def test_an_error_of_ours_comes_back_whole(children: Children, log: Path) -> None:
    outcome = children.run(tasks.fail_as_ours, log=log, timeout=LONG)
    assert outcome.symptom is Symptom.EXCEPTION
    assert isinstance(outcome.error, ModelError)
    assert (outcome.error.where, outcome.error.hint) == ("w.pt", "train again")


def test_what_does_not_apply_is_unsupported_and_no_exception(children: Children, log: Path) -> None:
    outcome = children.run(tasks.decline, log=log, timeout=LONG)
    assert (outcome.symptom, outcome.message) == (Symptom.UNSUPPORTED, "there is nothing to quantize")
    assert isinstance(outcome.error, Unsupported)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT, signal.SIGTERM])
def test_a_killed_child_is_a_crash_with_the_signals_name(children: Children, log: Path, number: signal.Signals) -> None:
    outcome = children.run(tasks.kill_itself, int(number), log=log, timeout=LONG)
    assert (outcome.symptom, outcome.message) == (Symptom.CRASH, f"the worker was killed by {number.name}")


def test_a_segmentation_fault_is_a_crash_and_leaves_its_stack_in_the_log(children: Children, log: Path) -> None:
    outcome = children.run(tasks.segfault, log=log, timeout=LONG)
    assert (outcome.symptom, outcome.message) == (Symptom.CRASH, "the worker was killed by SIGSEGV")
    assert "tasks.py" in log.read_text()


@pytest.mark.parametrize("status", [0, 7])
def test_a_child_that_leaves_without_an_answer_is_a_crash(children: Children, log: Path, status: int) -> None:
    outcome = children.run(tasks.leave, status, log=log, timeout=LONG)
    assert (outcome.symptom, outcome.message) == (Symptom.CRASH, f"the worker ended with exit status {status}")


def test_a_child_that_exits_or_returns_what_cannot_be_sent_does_not_raise_here(children: Children, log: Path) -> None:
    for task in (tasks.exit_quietly, tasks.unpicklable):
        outcome = children.run(task, log=log, timeout=LONG)
        assert outcome.symptom in (Symptom.CRASH, Symptom.EXCEPTION)
        assert outcome.message


@pytest.mark.parametrize("task", [tasks.hang, tasks.ignore_everything])
def test_a_child_that_hangs_is_a_timeout_and_is_gone(
    children: Children, log: Path, tmp_path: Path, task: object
) -> None:
    told = tmp_path / "pid"
    outcome = children.run(task, told, log=log, timeout=1.5)  # type: ignore[arg-type]  # one of two functions
    assert (outcome.symptom, outcome.message) == (Symptom.TIMEOUT, "still running after 1.5 s, and stopped")
    assert 1.5 <= outcome.seconds < 6
    assert gone(pids(told)[0])


def test_a_grandchild_ends_with_a_child_that_hangs(children: Children, log: Path, tmp_path: Path) -> None:
    told = tmp_path / "pids"
    assert children.run(tasks.hang_with_grandchild, told, log=log, timeout=2.0).symptom is Symptom.TIMEOUT
    assert all(gone(pid) for pid in pids(told))


def test_a_grandchild_ends_with_a_child_that_crashes_and_hides_the_crash_from_nobody(
    children: Children, log: Path, tmp_path: Path
) -> None:
    told = tmp_path / "pids"
    outcome = children.run(tasks.crash_beside_grandchild, told, log=log, timeout=10.0)
    assert (outcome.symptom, outcome.message) == (Symptom.CRASH, "the worker was killed by SIGKILL")
    assert all(gone(pid) for pid in pids(told))


def test_a_grandchild_ends_with_a_child_that_finishes(children: Children, log: Path, tmp_path: Path) -> None:
    told = tmp_path / "pids"
    assert children.run(tasks.finish_beside_grandchild, told, log=log, timeout=LONG).value == 1
    assert all(gone(pid) for pid in pids(told))


def test_all_that_is_printed_goes_to_the_log_and_not_to_our_output(
    children: Children, log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert children.run(tasks.talk, log=log, timeout=LONG).value == "said"
    assert capfd.readouterr() == ("", "")
    written = log.read_text()
    for text in ("from python\n", "from python, to stderr", "from below python", "from a child of the child"):
        assert text in written


def test_children_end_when_the_block_is_left_by_whatever_way(tmp_path: Path, log: Path) -> None:
    told = tmp_path / "pid"

    def interrupted() -> None:
        with Children() as children, children.child(tasks.hang, (told,), log):
            pids(told)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert gone(pids(told)[0])


def test_ending_all_reaches_a_child_that_another_thread_waits_for(tmp_path: Path, log: Path) -> None:
    told = tmp_path / "pid"
    children = Children()
    waiting = threading.Thread(target=lambda: children.run(tasks.hang, told, log=log, timeout=LONG), daemon=True)
    waiting.start()
    (pid,) = pids(told)
    children.end_all()
    assert gone(pid)
    waiting.join(10)
    assert not waiting.is_alive()


def test_ending_all_leaves_the_pipe_to_the_thread_that_waits_which_gets_its_outcome(tmp_path: Path, log: Path) -> None:
    """Two threads that close one descriptor race, and the later may close what another has opened since."""
    outcomes: list[Outcome] = []
    for turn in range(8):
        told = tmp_path / f"pid{turn}"
        children = Children()

        def wait(children: Children = children, told: Path = told) -> None:
            outcomes.append(children.run(tasks.hang, told, log=log, timeout=LONG))

        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        pids(told)
        children.end_all()
        waiting.join(10)
    assert [outcome.symptom for outcome in outcomes] == [Symptom.CRASH] * 8


def test_no_child_starts_after_the_block(log: Path) -> None:
    with Children() as children:
        pass
    with pytest.raises(InterruptedError):
        children.run(tasks.add, 1, 1, log=log, timeout=LONG)


def test_one_child_leaves_another_alone(children: Children, log: Path, tmp_path: Path) -> None:
    with children.child(tasks.hang, (tmp_path / "pid",), log) as other:
        children.run(tasks.kill_itself, 9, log=tmp_path / "other.log", timeout=LONG)
        with pytest.raises(TimeoutError):
            other.receive(0.1)


def test_a_child_knows_that_it_is_one_and_does_not_run_our_script(children: Children, log: Path) -> None:
    assert children.run(tasks.environment, IN_CHILD, log=log, timeout=LONG).value == "1"
    assert children.run(tasks.main_file, log=log, timeout=LONG).value is None
    assert IN_CHILD not in os.environ
    assert getattr(sys.modules["__main__"], "__file__", None) is not None


def test_idle_threads_sleep_in_children_and_our_own_environment_is_left_alone(children: Children, log: Path) -> None:
    assert children.run(tasks.environment, "OMP_WAIT_POLICY", log=log, timeout=LONG).value == "PASSIVE"
    assert "OMP_WAIT_POLICY" not in os.environ


def test_a_script_without_a_main_guard_is_stopped_before_it_starts_children(
    monkeypatch: pytest.MonkeyPatch, log: Path
) -> None:
    refuse_recursion()
    monkeypatch.setenv(IN_CHILD, "1")
    with pytest.raises(UsageError, match="called while one of its own child processes") as caught:
        Child(tasks.add, (1, 1), log)
    assert caught.value.hint is not None
    assert "__main__" in caught.value.hint


def test_in_process_nothing_is_started_and_outcomes_are_the_same(log: Path) -> None:
    with Children(in_process=True) as children:
        assert children.run(os.getpid, log=log, timeout=LONG).value == os.getpid()
        failed = children.run(tasks.fail, log=log, timeout=LONG)
        declined = children.run(tasks.decline, log=log, timeout=LONG)
    assert (failed.symptom, failed.message) == (Symptom.EXCEPTION, "ValueError: the line that matters")
    assert declined.symptom is Symptom.UNSUPPORTED


def test_a_lock_that_a_models_code_leaves_behind_is_none_of_the_users_business(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nfrom parity.workers import process\n"
        "from tests.workers import tasks\nprocess.PRELOAD.clear()\n"
        "process.Children().run(tasks.leave_a_lock, log=Path(sys.argv[1]), timeout=60)\n"
    )
    path = os.pathsep.join(entry for entry in sys.path if entry)
    ran = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "log")], env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, check=True, timeout=LONG,
    )  # fmt: skip
    assert ran.stderr == ""


def test_children_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    script = tmp_path / "parent.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nfrom parity.workers import process\n"
        "from tests.workers import tasks\nprocess.PRELOAD.clear()\n"
        "process.Children().run(tasks.hang, Path(sys.argv[1]), log=Path(sys.argv[1] + '.log'), timeout=60)\n"
    )
    path = os.pathsep.join(entry for entry in sys.path if entry)
    parent = subprocess.Popen([sys.executable, str(script), str(told)], env={**os.environ, "PYTHONPATH": path})
    try:
        (child,) = pids(told)
        assert not gone(child, within=0.1)
    finally:
        parent.kill()
        parent.wait()
    assert gone(child, within=10)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("one\ntwo"), "ValueError: one"),
        (ValueError("\n\n  ====\nreal words"), "ValueError: real words"),
        (
            RuntimeError("Failed to export the model with torch.export.\nThe above\nthe cause"),
            "RuntimeError: the cause",
        ),
        (
            RuntimeError(
                "The following operation failed in the TorchScript interpreter.\nTraceback of TorchScript\n"
                "    return x + y\n           ~~~~~ <--- HERE\nRuntimeError: sizes 3 and 4\n"
            ),
            "RuntimeError: RuntimeError: sizes 3 and 4",
        ),
        (
            RuntimeError("\npad(Tensor input, int[] pad) -> Tensor:\nExpected a value of type 'List[int]'.\n:\n  File"),
            "RuntimeError: pad(Tensor input, int[] pad) -> Tensor: Expected a value of type 'List[int]'.",
        ),
        (
            RuntimeError(
                "Failed to export the model with torch.export.\n## Exception summary\n"
                "<class 'ValueError'>: Found the following conflicts:\n- inferred a static shape\n- another"
            ),
            "RuntimeError: Found the following conflicts: inferred a static shape",
        ),
        (RuntimeError("Tried to trace <Net object at 0x55ffc7b9cca0>"), "RuntimeError: Tried to trace <Net object>"),
        (ValueError("nothing follows:"), "ValueError: nothing follows:"),
        (ValueError("Traceback"), "ValueError: Traceback"),
        (ValueError(), "ValueError"),
        (KeyError("x"), "KeyError: 'x'"),
    ],
)
def test_the_line_of_an_exception_that_tells_most(error: Exception, line: str) -> None:
    assert useful_line(error) == line


def test_an_exception_that_says_nothing_hands_over_to_its_cause_and_colours_are_left_out() -> None:
    error = RuntimeError("Failed to convert the exported program to an ONNX model. \x1b[96mThis is step 3/3\x1b[0m")
    error.__cause__ = ValueError("Error when translating node %median")
    error.__cause__.__cause__ = LookupError("No ONNX function found for \x1b[1maten.median\x1b[0m\nin 18")
    assert useful_line(error) == "LookupError: No ONNX function found for aten.median"


@pytest.mark.skipif("forkserver" not in multiprocessing.get_all_start_methods(), reason="its pipe holds the status")
def test_a_child_that_dies_while_others_start_keeps_its_exit_status(
    children: Children, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starting a child looks after every other one, and an exit status can be read once only."""
    read, ended = forkserver.read_signed, threading.Event()

    def read_slowly(descriptor: int) -> int:
        time.sleep(0.3)  # until the other thread, too, has seen that there is something to read
        status: int = read(descriptor)
        return status

    def look_after_all() -> None:
        while not ended.is_set():
            with STARTING:
                multiprocessing.active_children()  # as a start does
            time.sleep(0.001)

    with children.child(tasks.kill_itself, (signal.SIGKILL,), log) as child:
        monkeypatch.setattr(forkserver, "read_signed", read_slowly)
        other = threading.Thread(target=look_after_all)
        other.start()
        with pytest.raises(EOFError):
            child.receive(LONG)
        time.sleep(0.1)  # the other one is reading by now
        message = child.died()
        ended.set()
        other.join()
    assert message == "the worker was killed by SIGKILL"


@pytest.mark.parametrize("task", [tasks.find_the_disk_full, tasks.decline_on_a_full_disk])
@pytest.mark.parametrize("in_process", [False, True])
def test_a_task_that_a_full_disk_stopped_has_no_outcome(task: Any, in_process: bool, log: Path) -> None:  # noqa: FBT001
    with Children(in_process=in_process) as started, pytest.raises(StorageError) as caught:
        started.run(task, log=log, timeout=LONG)
    assert "cannot be written: the disk" in caught.value.what
    assert caught.value.hint is not None
    assert "TMPDIR=" in caught.value.hint


def test_a_crash_where_there_is_no_room_is_not_the_tasks_own(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, filled = tempfile.TemporaryFile, tmp_path / "filled"
    filled.mkdir()

    def full(*args: Any, dir: Any = None, **options: Any) -> Any:  # noqa: A002  # the name that it has there
        if Path(dir) == filled:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*args, dir=dir, **options)

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with Children(places=(Place(filled, "the report", "choose another folder with --out DIR"),)) as started:
        assert started.run(tasks.add, 1, 1, log=log, timeout=LONG).value == 2
        with pytest.raises(StorageError, match="the report cannot be written: the disk is full") as caught:
            started.run(tasks.kill_itself, signal.SIGBUS, log=log, timeout=LONG)
        assert caught.value.hint == "choose another folder with --out DIR"
    with Children(places=(Place(tmp_path, "the report", "choose another"),)) as started:
        outcome = started.run(tasks.kill_itself, signal.SIGBUS, log=log, timeout=LONG)
    assert (outcome.symptom, outcome.message) == (Symptom.CRASH, "the worker was killed by SIGBUS")


def test_a_log_that_cannot_be_made_is_no_crash(children: Children, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StorageError) as caught:
        children.run(tasks.add, 1, 1, log=tmp_path / "file" / "task.log", timeout=LONG)
    assert str(tmp_path / "file") in str(caught.value)


def test_children_do_not_hold_back_the_signal_that_ends_them(children: Children, log: Path) -> None:
    outcome = children.run(tasks.kill_itself, signal.SIGTERM, log=log, timeout=LONG)
    assert (outcome.symptom, outcome.message) == (Symptom.CRASH, "the worker was killed by SIGTERM")
