from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from torch import nn

from parity.arrays import ArrayReader
from parity.errors import ModelError
from parity.samples.calls import Call
from parity.workers.load import load
from parity.workers.reduced import ReducedTask, reduced_reference
from parity.workers.reference import ReferenceTask
from tests.workers import models
from tests.workers.models import spec


def run(folder: Path, model: type[nn.Module], precision: str) -> tuple[ArrayReader, tuple[Call, ...]]:
    made = spec(model)
    loaded = load(made, folder / "samples", (1, 3))
    sha = loaded.model.weights_sha256
    task = ReferenceTask(made, folder / "samples", loaded.calls, folder / "out", 1, sha)
    reduced_reference(ReducedTask(task, precision))
    return ArrayReader(folder / "out", precision), loaded.calls


@pytest.mark.parametrize(("precision", "written"), [("float16", "float16"), ("bfloat16", "float32")])
def test_every_held_out_call_is_run_in_the_reduced_precision(tmp_path: Path, precision: str, written: str) -> None:
    arrays, calls = run(tmp_path, models.Plain, precision)
    for call in calls:
        assert (f"{call.id}/output" in arrays) == (call.sweep is None)
    first = arrays.get(f"{calls[0].id}/output")
    assert first.dtype.name == written
    assert first.shape == (len(calls[0].samples), 300)
    if precision == "bfloat16":
        assert not np.any(first.view(np.uint32) & 0xFFFF), "eight bits of mantissa are all there is"


def test_a_model_that_does_not_run_in_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="eager does not run in float16: TypeError: float32 is what"):
        run(tmp_path, models.Refuses, "float16")
