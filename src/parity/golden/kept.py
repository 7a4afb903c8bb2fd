"""Which outputs a golden keeps: as many of the first held-out samples as fit, in the model's own dtype.

Arrays are keyed `NAME@SAMPLE`: the output's name, and the index of the first of the kept samples that are
stacked in it. A new array starts where the shape changes, so ragged outputs need no padding. Where not
even one sample fits, `NAME@SAMPLE` is flat and `NAME@positions` says where its numbers stood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from parity.arrays import Array, dtype_of
from parity.golden.evidence import Evidence
from parity.golden.record import Golden, Subset
from parity.records import OutputFacts

BUDGET = 600_000
"""Bytes of outputs and of what lists them: with the rest a golden stays under 1 MB, fit for version control."""

SEED = 0
_SAMPLE_BYTES = 110
"""What a kept sample adds to `golden.json`: its digest, its index, quotes and indentation."""

_ENTRY_BYTES = 130
"""What an array adds to the header of `outputs.safetensors`, besides its name."""

_POSITION = np.dtype(np.uint32)


@dataclass(frozen=True)
class Kept:
    """What is kept: sample indices, dtypes, arrays by key, and what is not kept and why."""

    samples: tuple[int, ...]
    dtypes: Mapping[str, str]
    tensors: Mapping[str, Array]
    unkept: Mapping[str, str]
    subset: Mapping[str, Subset] = field(default_factory=dict)


def keep(evidence: Evidence, budget: int = BUDGET) -> Kept:
    """Choose the first held-out samples that fit in `budget` bytes, leaving out any that alone does not.

    Where none fits, a seeded subset of the positions of the first is kept.
    """
    outputs = evidence.reference.outputs
    apart = [output for output in outputs if evidence.separable(output)]
    dtypes = {output.name: output.dtype for output in apart}
    unkept = {
        output.name: "it has no batch axis, so it depends on which samples are called together"
        for output in outputs
        if not evidence.separable(output)
    }
    if not apart:
        return Kept((), dtypes, {}, unkept)
    samples: list[int] = []
    left = budget
    for sample in range(len(evidence.digests)):
        cost = _cost(evidence.parts(apart, sample))
        if cost > budget:
            continue
        if cost > left:
            break
        samples.append(sample)
        left -= cost
    if samples:
        return Kept(tuple(samples), dtypes, _stacked(apart, evidence, samples), unkept)
    tensors, subset = _positions(evidence.parts(apart, 0), budget)
    return Kept((0,), dtypes, tensors, unkept, subset)


def _cost(parts: Mapping[str, Array]) -> int:
    return _SAMPLE_BYTES + sum(array.nbytes + _ENTRY_BYTES + len(name) for name, array in parts.items())


def _stacked(outputs: Sequence[OutputFacts], evidence: Evidence, samples: Sequence[int]) -> dict[str, Array]:
    tensors: dict[str, Array] = {}
    for output in outputs:
        runs: dict[int, list[Array]] = {}
        previous: Array | None = None
        start = 0
        for sample in samples:
            part = evidence.part(evidence.arrays.eager, output.name, sample)
            if part is not None:
                start = start if previous is not None and previous.shape == part.shape else sample
                runs.setdefault(start, []).append(part)
            previous = part
        tensors |= {f"{output.name}@{first}": _plain(np.stack(run)) for first, run in runs.items()}
    return tensors


def _positions(parts: Mapping[str, Array], budget: int) -> tuple[dict[str, Array], dict[str, Subset]]:
    tensors: dict[str, Array] = {}
    subset: dict[str, Subset] = {}
    share = budget // max(len(parts), 1)
    for name, part in parts.items():
        if part.nbytes <= share:
            tensors[f"{name}@0"] = _plain(part[None])
            continue
        count = max(share // (part.dtype.itemsize + _POSITION.itemsize), 1)
        chosen = np.random.default_rng(SEED).choice(part.size, count, replace=False, shuffle=False)
        places = np.sort(chosen).astype(_POSITION)
        tensors[f"{name}@0"] = _plain(part.reshape(-1)[places][None])
        tensors[f"{name}@positions"] = places
        subset[name] = Subset(positions=count, shape=part.shape, seed=SEED)
    return tensors, subset


def kept_parts(golden: Golden, name: str) -> dict[int, Array]:
    """The kept parts of one output by sample index as it was then; flat where a subset is kept."""
    found: dict[int, Array] = {}
    for first, sample in enumerate(golden.kept):
        stack = golden.tensors.get(f"{name}@{sample}")
        if stack is None:
            continue
        restored = _restored(stack, golden.outputs[name])
        found |= dict(zip(golden.kept[first : first + len(restored)], restored, strict=True))
    return found


def kept_positions(golden: Golden, name: str) -> Array | None:
    """Where the kept numbers of an output stood in the flat sample, or None where all are kept."""
    return golden.tensors.get(f"{name}@positions") if name in golden.subset else None


def _plain(array: Array) -> Array:
    """Complex numbers as pairs, since safetensors has no complex128."""
    if array.dtype.kind != "c":
        return np.ascontiguousarray(array)
    return np.stack([array.real, array.imag], axis=-1)


def _restored(array: Array, dtype: str) -> Array:
    wanted = dtype_of(dtype)
    if wanted.kind != "c":
        return array.astype(wanted) if array.dtype == wanted else array
    return np.ascontiguousarray(array).view(wanted)[..., 0]
