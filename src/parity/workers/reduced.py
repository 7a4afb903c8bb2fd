"""The reference in a reduced precision: what float16 or bfloat16 cost the model before anybody exports it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from parity.arrays import Array, ArrayWriter
from parity.errors import ModelError
from parity.samples.calls import held_out_calls, kept
from parity.workers.calling import call_converted
from parity.workers.reference import ReferenceTask, prepared


@dataclass(frozen=True)
class ReducedTask:
    """What a child needs: what the reference was made of, and the name of a torch dtype."""

    reference: ReferenceTask
    precision: str


def reduced_reference(task: ReducedTask) -> None:
    """Run the held-out calls eagerly in the reduced precision, writing arrays of its name beside the reference's.

    Float inputs are rounded to it as well. bfloat16 outputs are written as float32, which holds each exactly.

    Raises:
        ModelError: the model does not run in that precision.
    """
    dtype: torch.dtype = getattr(torch, task.precision)
    module, stored = prepared(task.reference)
    module.to(dtype)
    with ArrayWriter(task.reference.folder, task.precision) as writer:
        for call in held_out_calls(task.reference.calls):
            writer.put_all(call.id, kept(_run(module, stored.batch(call.samples), dtype), call))


def _run(module: torch.nn.Module, inputs: Mapping[str, Array], dtype: torch.dtype) -> dict[str, Array]:
    try:
        return call_converted(module, inputs, dtype)
    except Exception as error:
        line = next(iter(str(error).strip().splitlines()), "")[:200]
        name = str(dtype).rpartition(".")[2]
        raise ModelError(f"eager does not run in {name}: {type(error).__name__}: {line}") from error
