"""The reference stage: eager PyTorch, its float64 oracle, and the noise between the two."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from parity.arrays import Array, ArrayWriter
from parity.errors import ModelError
from parity.models.build import build, require_weights
from parity.models.reductions import watch_reductions
from parity.models.spec import ModelSpec
from parity.records import OutputFacts, ReferenceFacts
from parity.samples.calls import Call
from parity.samples.store import StoredSamples
from parity.workers.draws import call_module, copies_for, draw_jittered, draw_reorderings, widened, widest
from parity.workers.load import HELD_OUT

REFERENCE = "reference"
ORACLE = "oracle"

_STABLE_RELATIVE = 1e-5


@dataclass(frozen=True)
class ReferenceTask:
    """What a child needs to make the reference."""

    spec: ModelSpec
    samples: Path
    calls: tuple[Call, ...]
    folder: Path
    threads: int
    weights_sha256: str


def reference(task: ReferenceTask) -> ReferenceFacts:
    """Run every call eagerly and in float64, writing `reference` and `oracle` arrays to `task.folder`.

    Jittered copies are written under `<call>~<copy>` and the reorderings that stand in for an oracle
    under the same names.

    Raises:
        ModelError: the model does not run on its own samples, or returns no tensors.
    """
    torch.set_num_threads(task.threads)
    start = time.perf_counter()
    module = build(task.spec).module
    require_weights(module, task.weights_sha256, task.spec)
    stored = StoredSamples(task.samples / HELD_OUT, task.spec.signature)
    first = task.calls[0]
    with watch_reductions() as longest:
        _eager(module, stored.batch(first.samples), task, first)
        reduction = longest()
    unstable, notes = _stability(module, stored, task)
    oracle, reason = _oracle(module, stored.batch(first.samples))
    outputs: dict[str, OutputFacts] = {}
    numbers = 0
    copies = 0
    held_out = [call for call in task.calls if call.sweep is None]
    with ArrayWriter(task.folder, REFERENCE) as eager, ArrayWriter(task.folder, ORACLE) as exact:
        for call in task.calls:
            produced = _eager(module, stored.batch(call.samples), task, call)
            eager.put_all(call.id, produced)
            exact.put_all(call.id, call_module(oracle, widened(stored.batch(call.samples))) if oracle else produced)
            _merge_facts(outputs, produced, call)
            numbers += 0 if call.sweep else min((array.size for array in produced.values() if array.size), default=0)
        if oracle is None:
            copies = draw_reorderings(module, stored, held_out, eager, exact)
        elif copies := copies_for(numbers):
            draw_jittered((module, oracle), stored, held_out, eager, exact, copies=copies)
    return ReferenceFacts(
        oracle="float64" if oracle else "reordering",
        oracle_reason=reason,
        outputs=tuple(outputs.values()),
        longest_reduction=reduction,
        jittered_copies=copies,
        seconds=time.perf_counter() - start,
        threads=task.threads,
        unstable=unstable,
        notes=notes,
    )


def _eager(module: nn.Module, inputs: Mapping[str, Array], task: ReferenceTask, call: Call) -> dict[str, Array]:
    try:
        produced = {name: np.array(array) for name, array in call_module(module, inputs).items()}
    except Exception as error:
        shapes = ", ".join(f"{name} {array.dtype.name}{list(array.shape)}" for name, array in inputs.items())
        raise ModelError(
            f"the model does not run on its own samples: {type(error).__name__}: {str(error).strip()[:300]}",
            where=f"{task.spec.name}, samples {list(call.samples)[:4]}",
            got=shapes,
            hint="check the signature (--input) against the module's forward",
        ) from error
    if not produced:
        raise ModelError("the model returns no tensor", where=task.spec.name)
    if any(array.dtype.hasobject or array.dtype.kind in "US" for array in produced.values()):
        raise ModelError("the model returns something other than numbers", where=task.spec.name)
    return produced


def _merge_facts(outputs: dict[str, OutputFacts], produced: Mapping[str, Array], call: Call) -> None:
    for name, array in produced.items():
        batched = bool(array.ndim) and array.shape[0] == len(call.samples)
        known = outputs.get(name)
        outputs[name] = OutputFacts(
            name=name,
            dtype=array.dtype.name,
            shape=known.shape if known else array.shape,
            batched=batched and (known is None or known.batched),
        )


def _stability(module: nn.Module, stored: StoredSamples, task: ReferenceTask) -> tuple[str | None, tuple[str, ...]]:
    """Whether two runs of the same call agree, with different seeds; and whether inputs are written to."""
    first = task.calls[0]
    inputs = stored.batch(first.samples)
    before = {name: array.copy() for name, array in inputs.items()}
    runs = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        runs.append(_eager(module, {name: array.copy() for name, array in before.items()}, task, first))
    _eager(module, inputs, task, first)
    written = [name for name, array in inputs.items() if array.tobytes() != before[name].tobytes()]
    notes = tuple(f"forward writes to its input {name!r}" for name in written)
    for name, one in runs[0].items():
        other = runs[1].get(name)
        if other is None or one.shape != other.shape:
            return f"two runs on the same input return different shapes of {name!r}", notes
        difference = _relative(one, other)
        if difference > _STABLE_RELATIVE:
            differ = f"two runs on the same input differ in {name!r} by {difference:.2g} of its scale"
            return f"{differ}: a random layer, or state kept between calls", notes
    return None, notes


def _relative(one: Array, other: Array) -> float:
    if one.dtype.kind not in "fc":
        return float(np.any(one != other))
    finite = np.isfinite(one) & np.isfinite(other)
    if not np.array_equal(np.isnan(one), np.isnan(other)):
        return float("inf")
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    left, right = one[finite].astype(wide), other[finite].astype(wide)
    scale = max(float(np.max(np.abs(each), initial=0.0)) for each in (left, right))
    return float(np.max(np.abs(left - right), initial=0.0)) / scale if scale else 0.0


def _oracle(module: nn.Module, inputs: Mapping[str, Array]) -> tuple[nn.Module | None, str | None]:
    """The module in float64, or the reason why it cannot be."""
    wide = copy.deepcopy(module).double()
    try:
        produced = call_module(wide, widened(inputs))
    except Exception as error:  # noqa: BLE001  # a custom operator may raise anything; the fallback takes over
        return None, f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), '')[:200]}"
    narrow = [name for name, array in produced.items() if array.dtype != widest(array.dtype)]
    if narrow:
        return None, f"the output {narrow[0]!r} stays {produced[narrow[0]].dtype.name} in a float64 module"
    return wide, None
