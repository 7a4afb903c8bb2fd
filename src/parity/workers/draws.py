"""More draws of the reference's own error: jittered copies, and the same arithmetic in other orders."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from parity.arrays import Array, ArrayWriter
from parity.compare.structure import to_arrays
from parity.samples.calls import Call, kept
from parity.samples.store import StoredSamples
from parity.workers.calling import call_module, copied
from parity.workers.oracle import Oracle

FEW_NUMBERS = 256
"""With fewer output numbers in all, the floor is drawn from jittered copies as well, until there are as many."""

JITTERED_COPIES = 16
"""Healthy scalar outputs with one sample stand at 54 floors without copies, 3.7 with 8, 3.1 with 16."""

JITTER_ULPS = 4

EXACT_COPIES = 4
"""Copies that show which integers and booleans of the reference arithmetic noise decides."""

EXACT_JITTER_ULPS = 16
"""A float output may be off by ten floors, and what follows from it must be free to move as far."""


def copies_for(numbers: int) -> int:
    """How many jittered copies a reference with that many output numbers needs for its floor."""
    return 0 if numbers >= FEW_NUMBERS else min(-(-FEW_NUMBERS // max(numbers, 1)), JITTERED_COPIES)


def draw_jittered(
    modules: tuple[nn.Module, Oracle],
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
            inputs, moved, judge = _jittered(stored.batch(call.samples), module, oracle, seed=number)
            try:
                drawn, judged = call_module(moved, inputs), judge(inputs)
            except Exception:  # noqa: BLE001, S112  # a check of the domain may raise anything
                continue
            eager.put_all(f"{call.id}~{number}", kept(drawn, call))
            exact.put_all(f"{call.id}~{number}", kept(judged, call))


def draw_exact(
    module: nn.Module,
    stored: StoredSamples,
    calls: Sequence[Call],
    eager: ArrayWriter,
    *,
    names: Collection[str],
    taken: int,
) -> None:
    """Write the integer and boolean outputs `names` of jittered copies of every call, under `<call>~<copy>`.

    Where one of them changes, its value has no defined answer: arithmetic noise decides it. Numbers below
    `taken` are of copies that hold every output.
    """
    for call in calls:
        for number in range(taken, taken + EXACT_COPIES):
            inputs, moved, _ = _jittered(stored.batch(call.samples), module, None, seed=number, ulps=EXACT_JITTER_ULPS)
            try:
                drawn = call_module(moved, inputs)
            except Exception:  # noqa: BLE001, S112  # a check of the domain may raise anything
                continue
            chosen = {name: array for name, array in kept(drawn, call).items() if name in names}
            eager.put_all(f"{call.id}~{number}", chosen)


def draw_reorderings(
    module: nn.Module,
    stored: StoredSamples,
    calls: Sequence[Call],
    eager: ArrayWriter,
    exact: ArrayWriter,
    *,
    copies: int,
) -> int:
    """Write what the module returns in other orders of the same arithmetic, which is what rounding can change.

    Stands in for the oracle where float64 cannot run: each order is held against the plain one. So is a
    plain run whose inputs were off in the last place, which shows how far rounding spreads. With `copies`,
    jittered inputs give as many draws more. Returns how many there are a call.
    """
    for call in calls:
        plain = call_module(module, stored.batch(call.samples))
        for number in range(len(_REORDERINGS) + copies):
            reordering = _REORDERINGS[number % len(_REORDERINGS)]
            inputs, moved, exactly = stored.batch(call.samples), module, plain
            try:
                if number >= len(_REORDERINGS):
                    inputs, moved, _ = _jittered(inputs, module, None, seed=number)
                    exactly = call_module(moved, _copied(inputs))
                drawn = reordering(moved, inputs)
            except Exception:  # noqa: BLE001, S112  # one sample may be too few for the model, or a copy out of domain
                continue
            eager.put_all(f"{call.id}~{number}", kept(drawn, call))
            exact.put_all(f"{call.id}~{number}", kept(exactly, call))
    return len(_REORDERINGS) + copies


def _copied(inputs: Mapping[str, Array]) -> dict[str, Array]:
    return {name: array.copy() for name, array in inputs.items()}


def _jittered(
    inputs: Mapping[str, Array], module: nn.Module, oracle: Oracle | None, *, seed: int, ulps: int = JITTER_ULPS
) -> tuple[dict[str, Array], nn.Module, Oracle]:
    """Inputs moved by a few units in the last place; weights instead where every input is an integer."""
    rng = np.random.default_rng(seed)
    judge = oracle or Oracle(module)
    if any(array.dtype.kind == "f" for array in inputs.values()):
        return {name: _moved(array, rng, ulps) for name, array in inputs.items()}, module, judge
    weights, wide = copied(module), copied(judge.module)
    if weights is None or wide is None:
        return dict(inputs), module, judge
    with torch.no_grad():
        for narrow, exact in zip(weights.parameters(), wide.parameters(), strict=True):
            if narrow.is_floating_point():
                steps = torch.from_numpy(rng.integers(-ulps, ulps + 1, tuple(narrow.shape)))
                narrow.mul_(1 + steps.to(narrow.dtype) * torch.finfo(narrow.dtype).eps)
                exact.copy_(narrow)
    return dict(inputs), weights, replace(judge, module=wide)


def _moved(array: Array, rng: np.random.Generator, ulps: int) -> Array:
    if array.dtype.kind != "f":
        return array
    steps = rng.integers(-ulps, ulps + 1, array.shape)
    moved: Array = (array.astype(np.float64) + steps * np.spacing(np.abs(array))).astype(array.dtype)
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


def _last_place(module: nn.Module, inputs: Mapping[str, Array]) -> dict[str, Array]:
    moved_inputs, moved, _ = _jittered(inputs, module, None, seed=0, ulps=1)
    return call_module(moved, moved_inputs)


_REORDERINGS = (_other_threads, _without_onednn, _one_by_one, _channels_last, _last_place)
