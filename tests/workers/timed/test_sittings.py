"""Sessions in real processes are timed, and one that fails leaves the others their times."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from torch import nn

from parity.artifacts import Artifact, Manifest
from parity.latency.plan import Plan
from parity.records import Symptom
from parity.workers.load import load
from parity.workers.process import Children
from parity.workers.timed import REFERENCE, Cell, TimeTask, Timing, Timings, time_targets
from parity.workers.timed.timings import RESTLESS
from tests.workers import models
from tests.workers.models import spec

SHORT = Plan(seconds=0.05, processes=1, max_seconds=0.05)


def test_each_target_is_paired_with_eager_and_failures_are_named(tmp_path: Path) -> None:
    load(spec(models.Plain), tmp_path / "samples", (1,))
    broken = Artifact(tmp_path, Manifest("trace", "torchscript", "float", "missing.pt"))
    tasks = {
        REFERENCE: TimeTask(spec(models.Plain), tmp_path / "samples", 1),
        "same@torch": TimeTask(spec(models.Plain), tmp_path / "samples", 1),
        "limited@torch": TimeTask(spec(models.FewAtATime), tmp_path / "samples", 1),
        "broken@torchscript": TimeTask(spec(models.Plain), tmp_path / "samples", 1, broken, "torchscript"),
    }
    said: list[str] = []
    with Children() as children:
        timings = time_targets(Timing(children, tasks, (2, 9), SHORT, tmp_path / "logs", progress=said.append))
    (small,) = timings.paired[Cell("same@torch", 2, 1)]
    assert len(small.target) == len(small.eager) >= 4
    assert all(0 < seconds < 1 for burst in (*small.target, *small.eager) for seconds in burst.times)
    assert len(timings.paired[Cell("same@torch", 9, 1)]) == 1
    assert len(timings.paired[Cell("limited@torch", 2, 1)]) == 1
    assert Cell("limited@torch", 9, 1) not in timings.paired
    assert timings.paired[Cell(REFERENCE, 2, 1)][0].eager == ()
    assert set(timings.failed) == {"limited@torch", "broken@torchscript"}
    assert "out of memory" in timings.failed["limited@torch"]
    assert "missing.pt" in timings.failed["broken@torchscript"]
    assert said == ["6 cells, processes no. 1"]
    (start,) = timings.starts["same@torch", 1]
    assert start.batch == 2
    assert start.load_seconds > 0
    assert start.first_seconds > 0
    assert timings.sittings == 1
    assert 0 < timings.burst_seconds < timings.seconds
    assert timings.cpu_seconds > 0


def test_only_cells_that_stay_undecided_get_further_processes(tmp_path: Path) -> None:
    load(spec(models.Plain), tmp_path / "samples", (1,))
    task = TimeTask(spec(models.Plain), tmp_path / "samples", 1)
    open_cell = Cell("b@torch", 4, 1)

    def undecided(timings: Timings) -> Collection[Cell]:
        return [open_cell] if len(timings.paired[open_cell]) < 4 else []

    said: list[str] = []
    with Children() as children:
        timings = time_targets(
            Timing(
                children,
                {REFERENCE: task, "a@torch": task, "b@torch": task},
                (2, 4),
                Plan(seconds=0.04, processes=2, max_seconds=10.0),
                tmp_path / "logs",
                undecided=undecided,
                progress=said.append,
            )
        )
    processes = {cell: len(pairs) for cell, pairs in timings.paired.items() if cell.target != REFERENCE}
    others = {Cell("a@torch", 2, 1): 2, Cell("a@torch", 4, 1): 2, Cell("b@torch", 2, 1): 2}
    assert processes == {**others, open_cell: 4}
    assert said[2:] == ["1 undecided cell, processes no. 3", "1 undecided cell, processes no. 4"]


def test_a_cell_that_nothing_decides_ends_with_its_time(tmp_path: Path) -> None:
    load(spec(models.Plain), tmp_path / "samples", (1,))
    task = TimeTask(spec(models.Plain), tmp_path / "samples", 1)
    with Children() as children:
        timings = time_targets(
            Timing(
                children,
                {REFERENCE: task, "a@torch": task},
                (2,),
                Plan(seconds=0.2, processes=1, max_seconds=0.6),
                tmp_path / "logs",
                undecided=lambda timings: list(timings.paired),
            )
        )
    assert 2 <= timings.sittings <= 6
    assert timings.spent(Cell("a@torch", 2, 1)) < 1.0


def test_every_number_of_threads_is_timed_with_processes_of_its_own(tmp_path: Path) -> None:
    load(spec(models.Plain), tmp_path / "samples", (1,))
    task = TimeTask(spec(models.Plain), tmp_path / "samples", 1)
    with Children() as children:
        timings = time_targets(
            Timing(children, {REFERENCE: task, "a@torch": task}, (2,), SHORT, tmp_path / "logs", threads=(1, 2))
        )
    assert {cell.threads for cell in timings.paired} == {1, 2}
    assert {threads for _, threads in timings.starts} == {1, 2}


def test_how_a_session_ended_that_gave_no_times_is_told_and_the_others_are_timed(tmp_path: Path) -> None:
    load(spec(models.Plain), tmp_path / "samples", (1,))
    tasks = {
        REFERENCE: TimeTask(spec(models.Plain), tmp_path / "samples", 1),
        "same@torch": TimeTask(spec(models.Plain), tmp_path / "samples", 1),
        "hanging@torch": TimeTask(spec(models.Hanging), tmp_path / "samples", 1),
        "killed@torch": TimeTask(spec(models.Killed), tmp_path / "samples", 1),
        "refusing@torch": TimeTask(spec(models.FewAtATime), tmp_path / "samples", 1),
    }
    with Children() as children:
        timings = time_targets(Timing(children, tasks, (2, 9), SHORT, tmp_path / "logs", timeout=5))
    assert timings.failed["hanging@torch"] == "no answer for 5 s"
    assert timings.failed["killed@torch"] == "the worker was killed by SIGKILL"
    assert timings.symptoms == {
        "hanging@torch": Symptom.TIMEOUT, "killed@torch": Symptom.CRASH, "refusing@torch": Symptom.EXCEPTION
    }  # fmt: skip
    assert timings.paired[Cell("same@torch", 2, 1)]


def test_sessions_sleep_while_others_are_timed_and_one_that_spins_is_named(tmp_path: Path) -> None:
    load(spec(models.Plain), tmp_path / "samples", (1,))
    tasks = {
        REFERENCE: TimeTask(spec(models.Plain), tmp_path / "samples", 1),
        "calm@torch": TimeTask(spec(models.Plain), tmp_path / "samples", 1),
        "spinning@torch": TimeTask(spec(models.Spinning), tmp_path / "samples", 1),
    }
    with Children() as children:
        timings = time_targets(
            Timing(children, tasks, (2,), Plan(seconds=0.5, processes=1, max_seconds=0.5), tmp_path / "logs")
        )
    assert timings.restless["calm@torch"] < RESTLESS < timings.restless["spinning@torch"]
    (said,) = timings.disturbances()
    assert said.startswith("spinning@torch kept ")


def test_what_takes_long_to_warm_up_is_timed_for_longer(tmp_path: Path) -> None:
    load(spec(models.Plain), tmp_path / "samples", (1,))
    planned = Plan(seconds=0.4, processes=1, max_seconds=0.4)

    def rounds(model: type[nn.Module]) -> int:
        tasks = {REFERENCE: TimeTask(spec(model), tmp_path / "samples", 1)}
        with Children() as children:
            timings = time_targets(Timing(children, tasks, (2,), planned, tmp_path / "logs"))
        return len(timings.paired[Cell(REFERENCE, 2, 1)][0].target)

    assert rounds(models.LongToWarmUp) > 2 * rounds(models.Plain)
