"""The reference in a reduced precision: what float16 or bfloat16 cost the model before anybody exports it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from parity.arrays import Array, ArrayWriter
from parity.errors import ModelError
from parity.models.build import build, require_weights
from parity.models.spec import ModelSpec
from parity.samples.calls import Call, held_out_calls, kept
from parity.samples.store import StoredSamples
from parity.workers.calling import call_converted
from parity.workers.load import HELD_OUT


@dataclass(frozen=True)
class ReducedTask:
    """What a child needs; `precision` is the name of a torch dtype."""

    spec: ModelSpec
    samples: Path
    calls: tuple[Call, ...]
    folder: Path
    threads: int
    weights_sha256: str
    precision: str


def reduced_reference(task: ReducedTask) -> None:
    """Run the held-out calls eagerly in the reduced precision, writing arrays of its name to `task.folder`.

    Float inputs are rounded to it as well. bfloat16 outputs are written as float32, which holds each exactly.

    Raises:
        ModelError: the model does not run in that precision.
    """
    torch.set_num_threads(task.threads)
    dtype: torch.dtype = getattr(torch, task.precision)
    module = build(task.spec).module
    require_weights(module, task.weights_sha256, task.spec)
    module.to(dtype)
    stored = StoredSamples(task.samples / HELD_OUT, task.spec.signature)
    with ArrayWriter(task.folder, task.precision) as writer:
        for call in held_out_calls(task.calls):
            writer.put_all(call.id, kept(_run(module, stored.batch(call.samples), dtype), call))


def _run(module: torch.nn.Module, inputs: Mapping[str, Array], dtype: torch.dtype) -> dict[str, Array]:
    try:
        return call_converted(module, inputs, dtype)
    except Exception as error:
        line = next(iter(str(error).strip().splitlines()), "")[:200]
        name = str(dtype).rpartition(".")[2]
        raise ModelError(f"eager does not run in {name}: {type(error).__name__}: {line}") from error
