"""Sessions in real processes are timed, and one that fails leaves the others their times."""

from __future__ import annotations

from pathlib import Path

from parity.artifacts import Artifact, Manifest
from parity.workers.load import load
from parity.workers.process import Children
from parity.workers.timing import EAGER, TimeTask, time_targets
from tests.workers import models
from tests.workers.models import spec


def test_each_target_is_paired_with_eager_and_failures_are_named(tmp_path: Path) -> None:
    load(spec(models.Plain), tmp_path / "samples", (1,))
    broken = Artifact(tmp_path, Manifest("trace", "torchscript", "float", "missing.pt"))
    tasks = {
        EAGER: TimeTask(spec(models.Plain), tmp_path / "samples", 1),
        "same@torch": TimeTask(spec(models.Plain), tmp_path / "samples", 1),
        "limited@torch": TimeTask(spec(models.FewAtATime), tmp_path / "samples", 1),
        "broken@torchscript": TimeTask(spec(models.Plain), tmp_path / "samples", 1, broken, "torchscript"),
    }
    said: list[str] = []
    with Children() as children:
        timings = time_targets(
            children, tasks, (2, 9), seconds=0.05, processes=1, logs=tmp_path / "logs", progress=said.append
        )
    (small,) = timings.paired["same@torch", 2]
    assert len(small.target) == len(small.eager) >= 4
    assert all(0 < seconds < 1 for burst in (*small.target, *small.eager) for seconds in burst)
    assert len(timings.paired["same@torch", 9]) == 1
    assert len(timings.paired["limited@torch", 2]) == 1
    assert ("limited@torch", 9) not in timings.paired
    assert timings.paired[EAGER, 2][0].eager == ()
    assert set(timings.failed) == {"limited@torch", "broken@torchscript"}
    assert "out of memory" in timings.failed["limited@torch"]
    assert "missing.pt" in timings.failed["broken@torchscript"]
    assert said == ["batch 2, round 1 of 1", "batch 9, round 1 of 1"]
