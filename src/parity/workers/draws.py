"""More draws of the reference's own error: jittered inputs, and the same arithmetic in other orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
from torch import nn

from parity.arrays import Array, ArrayWriter
from parity.compare.structure import to_arrays
from parity.samples.calls import Call
from parity.samples.store import StoredSamples

FEW_NUMBERS = 256
"""With fewer output numbers in all, the floor is drawn from jittered copies as well, until there are as many."""

JITTERED_COPIES = 16
"""Healthy scalar outputs with one sample stand at 54 floors without copies, 3.7 with 8, 3.1 with 16."""

JITTER_ULPS = 4


def call_module(module: nn.Module, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """One call of a module: inputs in the order of `forward`, outputs by name."""
    with torch.inference_mode():
        return to_arrays(module(*(torch.from_numpy(array) for array in inputs.values())))


def widened(inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Float inputs in float64, complex ones in complex128, the rest as they are."""
    return {name: array.astype(widest(array.dtype)) for name, array in inputs.items()}


def widest(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The dtype of the oracle for a dtype of the model."""
    wide: dict[str, np.dtype[np.generic]] = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}
    return wide.get(dtype.kind, dtype)


def copies_for(numbers: int) -> int:
    """How many jittered copies a reference with that many output numbers needs for its floor."""
    return 0 if numbers >= FEW_NUMBERS else min(-(-FEW_NUMBERS // max(numbers, 1)), JITTERED_COPIES)


def draw_jittered(
    modules: tuple[nn.Module, nn.Module],
    stored: StoredSamples,
    calls: Sequence[Call],
    eager: ArrayWriter,
    exact: ArrayWriter,
    *,
    copies: int,
) -> None:
    """Write what the `modules` (eager and oracle) return for jittered copies of a few calls, under `<call>~<copy>`.

    A copy that leaves the domain of the model (a probability just above 1) is left out.
    """
    module, oracle = modules
    # A few calls stand for all: the floor needs draws, not every sample over again.
    for call in calls[:: max(len(calls) // 8, 1)]:
        for number in range(copies):
            jittered = _jitter(stored.batch(call.samples), seed=number)
            try:
                drawn, judged = call_module(module, jittered), call_module(oracle, widened(jittered))
            except RuntimeError:
                continue
            eager.put_all(f"{call.id}~{number}", drawn)
            exact.put_all(f"{call.id}~{number}", judged)


def draw_reorderings(
    module: nn.Module, stored: StoredSamples, calls: Sequence[Call], eager: ArrayWriter, exact: ArrayWriter
) -> int:
    """Write what the module returns in other orders of the same arithmetic, which is what rounding can change.

    Stands in for the oracle where float64 cannot run; returns the number of orders.
    """
    for call in calls:
        plain = call_module(module, stored.batch(call.samples))
        for number, reordering in enumerate(_REORDERINGS):
            eager.put_all(f"{call.id}~{number}", reordering(module, stored.batch(call.samples)))
            exact.put_all(f"{call.id}~{number}", plain)
    return len(_REORDERINGS)


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


def _other_threads(module: nn.Module, inputs: Mapping[str, Array]) -> dict[str, Array]:
    before = torch.get_num_threads()
    torch.set_num_threads(2 if before == 1 else 1)
    try:
        return call_module(module, inputs)
    finally:
        torch.set_num_threads(before)


def _without_onednn(module: nn.Module, inputs: Mapping[str, Array]) -> dict[str, Array]:
    with torch.backends.mkldnn.flags(enabled=False):
        return call_module(module, inputs)


def _one_by_one(module: nn.Module, inputs: Mapping[str, Array]) -> dict[str, Array]:
    count = len(next(iter(inputs.values()))) if all(array.ndim for array in inputs.values()) else 1
    parts = [
        call_module(module, {name: array[place : place + 1] for name, array in inputs.items()})
        for place in range(count)
    ]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if parts[0][name].ndim}
    whole = call_module(module, inputs)
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
