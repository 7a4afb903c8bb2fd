"""The reference stage: eager PyTorch, its float64 oracle, and the noise between the two."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from parity.arrays import Array, ArrayWriter
from parity.compare.structure import to_arrays
from parity.errors import ModelError
from parity.models.build import build
from parity.models.reductions import watch_reductions
from parity.models.spec import ModelSpec
from parity.records import OutputFacts, ReferenceFacts
from parity.samples.calls import Call
from parity.samples.store import StoredSamples
from parity.workers.load import HELD_OUT

REFERENCE = "reference"
ORACLE = "oracle"

FEW_NUMBERS = 4096
"""Below this many output numbers in all, the floor is drawn from jittered copies as well."""

JITTERED_COPIES = 16
"""Healthy scalar outputs with one sample stand at 54 floors without copies, 3.7 with 8, 3.1 with 16."""

JITTER_ULPS = 4
_STABLE_RELATIVE = 1e-5


@dataclass(frozen=True)
class ReferenceTask:
    """What a child needs to make the reference."""

    spec: ModelSpec
    samples: Path
    calls: tuple[Call, ...]
    folder: Path
    threads: int


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
            exact.put_all(call.id, _call(oracle, _widened(stored.batch(call.samples))) if oracle else produced)
            _merge_facts(outputs, produced, call)
            numbers += 0 if call.sweep else min((array.size for array in produced.values() if array.size), default=0)
        if oracle is None:
            for call in held_out:
                _reorder(module, stored.batch(call.samples), call, eager, exact)
            copies = len(_REORDERINGS)
        elif numbers < FEW_NUMBERS:
            copies = JITTERED_COPIES
            for call in _spread(held_out):
                for copy_number in range(copies):
                    jittered = _jitter(stored.batch(call.samples), seed=copy_number)
                    key = f"{call.id}~{copy_number}"
                    eager.put_all(key, _call(module, jittered))
                    exact.put_all(key, _call(oracle, _widened(jittered)))
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


def _spread(calls: list[Call]) -> list[Call]:
    """A few calls stand for all: the floor needs draws, not every sample over again."""
    return calls[:: max(len(calls) // 8, 1)]


def _call(module: nn.Module, inputs: Mapping[str, Array]) -> dict[str, Array]:
    with torch.inference_mode():
        return to_arrays(module(*(torch.from_numpy(array) for array in inputs.values())))


def _eager(module: nn.Module, inputs: Mapping[str, Array], task: ReferenceTask, call: Call) -> dict[str, Array]:
    try:
        produced = {name: np.array(array) for name, array in _call(module, inputs).items()}
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
        produced = _call(wide, _widened(inputs))
    except Exception as error:  # noqa: BLE001  # a custom operator may raise anything; the fallback takes over
        return None, f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), '')[:200]}"
    widest = {"f": np.float64, "c": np.complex128}
    narrow = [name for name, array in produced.items() if array.dtype != widest.get(array.dtype.kind, array.dtype)]
    if narrow:
        return None, f"the output {narrow[0]!r} stays {produced[narrow[0]].dtype.name} in a float64 module"
    return wide, None


def _widened(inputs: Mapping[str, Array]) -> dict[str, Array]:
    wide = {"f": np.float64, "c": np.complex128}
    return {name: array.astype(wide.get(array.dtype.kind, array.dtype)) for name, array in inputs.items()}


def _jitter(inputs: Mapping[str, Array], seed: int) -> dict[str, Array]:
    """Float inputs moved by a few units in the last place; integers as they are."""
    rng = np.random.default_rng(seed)
    moved: dict[str, Array] = {}
    for name, array in inputs.items():
        if array.dtype.kind == "f":
            steps = rng.integers(-JITTER_ULPS, JITTER_ULPS + 1, array.shape)
            moved[name] = (array.astype(np.float64) + steps * np.spacing(np.abs(array))).astype(array.dtype)
        else:
            moved[name] = array
    return moved


def _reorder(module: nn.Module, inputs: dict[str, Array], call: Call, eager: ArrayWriter, exact: ArrayWriter) -> None:
    """The same arithmetic in other orders: what it changes is what rounding can change."""
    plain = _call(module, {name: array.copy() for name, array in inputs.items()})
    for number, reordering in enumerate(_REORDERINGS):
        key = f"{call.id}~{number}"
        eager.put_all(key, reordering(module, {name: array.copy() for name, array in inputs.items()}))
        exact.put_all(key, plain)


def _other_threads(module: nn.Module, inputs: Mapping[str, Array]) -> dict[str, Array]:
    before = torch.get_num_threads()
    torch.set_num_threads(2 if before == 1 else 1)
    try:
        return _call(module, inputs)
    finally:
        torch.set_num_threads(before)


def _without_onednn(module: nn.Module, inputs: Mapping[str, Array]) -> dict[str, Array]:
    with torch.backends.mkldnn.flags(enabled=False):
        return _call(module, inputs)


def _one_by_one(module: nn.Module, inputs: Mapping[str, Array]) -> dict[str, Array]:
    count = len(next(iter(inputs.values()))) if all(array.ndim for array in inputs.values()) else 1
    parts = [
        _call(module, {name: array[place : place + 1] for name, array in inputs.items()}) for place in range(count)
    ]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if parts[0][name].ndim}
    whole = _call(module, inputs)
    same = {name for name, array in joined.items() if array.shape == whole[name].shape}
    return {name: joined[name] if name in same else array for name, array in whole.items()}


def _channels_last(module: nn.Module, inputs: Mapping[str, Array]) -> dict[str, Array]:
    tensors: Iterable[torch.Tensor] = (
        torch.from_numpy(array).contiguous(memory_format=torch.channels_last)
        if array.ndim == 4  # noqa: PLR2004  # images
        else torch.from_numpy(array)
        for array in inputs.values()
    )
    with torch.inference_mode():
        return to_arrays(module(*tensors))


_REORDERINGS = (_other_threads, _without_onednn, _one_by_one, _channels_last)
