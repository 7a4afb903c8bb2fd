"""Export and run stages, in this process: what a target answers, and what stays of one that does not."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from parity.arrays import ArrayReader, ArrayWriter
from parity.artifacts import Artifact, write_manifest
from parity.errors import StorageError, Unsupported
from parity.samples.calls import Call
from parity.workers.export import ExportTask, export
from parity.workers.load import load
from parity.workers.run import OUTPUTS, RunTask, run
from tests.workers import models
from tests.workers.models import HELD_OUT, spec

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def exported(folder: Path, model: type[nn.Module], exporter: str = "trace") -> tuple[Artifact, tuple[Call, ...]]:
    made = spec(model)
    loaded = load(made, folder / "samples", (1, 3, 16))
    target = folder / "artifact"
    target.mkdir()
    manifest = export(
        ExportTask(made, exporter, folder / "samples", loaded.example, target, None, 1, loaded.model.weights_sha256)
    )
    return write_manifest(target, manifest), loaded.calls


def task(folder: Path, artifact: Artifact, calls: tuple[Call, ...], runtime: str = "torchscript") -> RunTask:
    return RunTask(artifact, runtime, spec(models.Plain), folder / "samples", calls, folder / "out", 1)


def test_an_exported_model_answers_every_call_as_the_model_does(tmp_path: Path) -> None:
    artifact, calls = exported(tmp_path, models.Plain)
    ran = run(task(tmp_path, artifact, calls))
    assert (ran.opened, dict(ran.failed), ran.message) == (True, {}, "")
    outputs = ArrayReader(tmp_path / "out", OUTPUTS)
    module = models.Plain().eval()
    for call in calls:
        with torch.inference_mode():
            expected = module(torch.from_numpy(HELD_OUT[list(call.samples)])).numpy()
        assert np.allclose(outputs.get(f"{call.id}/output"), expected, rtol=1e-4, atol=1e-6)


def test_the_manifest_says_what_was_made_and_by_what(tmp_path: Path) -> None:
    manifest = exported(tmp_path, models.Several)[0].manifest
    assert (manifest.exporter, manifest.format, manifest.precision) == ("trace", "torchscript", "float")
    assert manifest.outputs == ("scores", "best", "total")
    assert list(manifest.files) == [manifest.entry]
    assert manifest.seconds > 0


def test_an_exporter_that_does_not_apply_says_so(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="needs calibration samples"):
        exported(tmp_path, models.Plain, "int8-static")


def test_a_batch_size_that_fails_is_recorded_and_the_others_go_on(tmp_path: Path) -> None:
    artifact, calls = exported(tmp_path, models.FewAtATime, "script")
    ran = run(task(tmp_path, artifact, calls))
    assert list(ran.failed) == ["s16"]
    assert "out of memory" in ran.failed["s16"]
    assert "s3/output" in ArrayReader(tmp_path / "out", OUTPUTS)


def test_after_a_held_out_call_failed_the_rest_of_them_is_left_out_and_the_sweep_goes_on(tmp_path: Path) -> None:
    artifact, calls = exported(tmp_path, models.Plain)
    broken = replace(spec(models.Plain).signature.inputs[0], name="other")
    made = task(tmp_path, artifact, calls)
    ran = run(replace(made, spec=replace(made.spec, signature=replace(made.spec.signature, inputs=(broken,)))))
    assert [name for name in ran.failed if name.startswith("h")] == ["h0"]
    assert {name for name in ran.failed if name.startswith("s")} == {"s1", "s3", "s16"}


def test_an_artifact_that_does_not_open_is_a_result_with_the_reason(tmp_path: Path) -> None:
    artifact, calls = exported(tmp_path, models.Plain)
    artifact.entry.write_bytes(b"not an archive")
    ran = run(task(tmp_path, artifact, calls))
    assert not ran.opened
    assert ran.message.startswith("RuntimeError: ")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_outputs_that_cannot_be_written_are_the_targets_fault_where_the_disk_is_not_full(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact, calls = exported(tmp_path, models.Plain)

    def put_all(*_: object) -> None:
        raise OSError(number, "told by the system")

    monkeypatch.setattr(ArrayWriter, "put_all", put_all)
    if number == errno.ENOSPC:
        with pytest.raises(StorageError, match="the disk is full"):
            run(task(tmp_path, artifact, calls))
    else:
        assert "h0" in run(task(tmp_path, artifact, calls)).failed
