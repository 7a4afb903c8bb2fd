"""Whether the reference is a function: the same input gives the same output, whatever came before."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import numpy as np
import torch

from parity.arrays import Array

Run = Callable[[], dict[str, Array]]
"""One run of the reference on inputs that nobody else holds."""

STABLE_RELATIVE = 1e-5
"""Runs may differ by what a parallel sum reorders; a random layer or a changed state moves far more."""


def unstable_runs(run: Run) -> str | None:
    """Why the reference is no function of its input: random numbers, or state kept between calls; else None.

    Two runs with the same seed differ by state alone, runs with different seeds by random numbers as well.
    The seeds of torch, NumPy and Python are set.
    """
    runs: list[dict[str, Array]] = []
    for seed in (1, 1, 2):
        _seed(seed)
        runs.append(run())
    kept = difference(runs[0], runs[1])
    if kept is not None:
        return f"two runs on the same input {kept}: state kept between calls"
    drawn = difference(runs[0], runs[2])
    return None if drawn is None else f"two runs on the same input {drawn}: a random layer, or random numbers"


def _seed(seed: int) -> None:
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # what a module may draw from
    random.seed(seed)


def difference(one: Mapping[str, Array], other: Mapping[str, Array]) -> str | None:
    """How two results differ by more than reordered sums, in words; None where they do not."""
    if one.keys() != other.keys():
        changed = sorted(one.keys() ^ other.keys())
        return f"do not both return {changed[0]!r}"
    for name, array in one.items():
        if array.shape != other[name].shape:
            return f"return {name!r} as {list(array.shape)} and as {list(other[name].shape)}"
        relative = _relative(array, other[name])
        if relative > STABLE_RELATIVE:
            return f"differ in {name!r} by {relative:.2g} of its scale"
    return None


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
