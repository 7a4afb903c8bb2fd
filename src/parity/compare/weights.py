"""Whether the weights of an artifact are the model's: compared name by name, apart from what optimizers fold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from parity.arrays import Array, dtype_name

ROUNDINGS = 16.0
"""Units of round-off, of the coarser of the two dtypes, within which weights are the same: storing costs half a unit,
and folding a scale into them a few."""

MOSTLY = 0.5
"""Share of the matrices that have to differ before another checkpoint is suspected: a fault in one layer is no other
checkpoint."""

FEWEST = 2
"""Weights that have to differ at least."""

_MATRIX = 2
_BFLOAT16_EPS = 2.0**-7


@dataclass(frozen=True)
class WeightFacts:
    """What came of the comparison.

    Attributes:
        compared: Weights of one name and shape on both sides. Those that are one constant on both, such as the zeros
            that a bias begins with, tell nothing and are not counted.
        other: Those that hold other numbers, in the model's order.
        suspicious: Whether so many of the matrices do that folding and faults in single layers do not explain it.
    """

    compared: int
    other: tuple[str, ...]
    suspicious: bool


def compare_weights(
    theirs: Mapping[str, Array], ours: Mapping[str, Array], beside: Collection[str] = ()
) -> WeightFacts:
    """Hold an artifact's weights against the model's.

    Folding a normalisation into a layer multiplies each of its channels by a number, and changes its bias by anything:
    such a layer counts as the same, as long as no more layers have their output channels scaled than normalisations
    have gone.

    Args:
        theirs: By name, as the artifact has them; those without the model's name are passed over.
        ours: By name, as the model has them.
        beside: Names of those that lie in a file of their own, where they can be another export's although the small
            ones within the graph are not; suspicion then rests on them alone.
    """
    alike: dict[str, bool] = {}
    scaled: dict[str, int] = {}
    for name, array in ours.items():
        held = _of_shape(theirs.get(name), array)
        if held is None or array.dtype.kind != "f":
            continue
        wide, other, tolerance = array.astype(np.float64), held.astype(np.float64), _tolerance(held, array)
        if _same(wide, other, tolerance):
            if np.ptp(wide) > 0:
                alike[name] = True
            continue
        axis = _scaled_axis(wide, other, tolerance)
        alike[name] = False
        if axis is not None:
            scaled[name] = axis
    if sum(axis == 0 for axis in scaled.values()) <= _gone(theirs, ours):
        alike |= dict.fromkeys(scaled, True)
    folded = {name.rpartition(".")[0] for name in scaled if alike[name]}
    counted = {name: same for name, same in alike.items() if same or not _explained(ours[name], name, folded)}
    other_names = tuple(name for name, same in counted.items() if not same)
    among = [name for name in counted if name in beside] or list(counted)
    matrices = [name for name in among if ours[name].ndim >= _MATRIX] or among
    differing = sum(not counted[name] for name in matrices)
    return WeightFacts(
        compared=len(counted),
        other=other_names,
        suspicious=len(other_names) >= FEWEST and differing > MOSTLY * len(matrices),
    )


def _explained(array: Array, name: str, folded: set[str]) -> bool:
    """A bias of a layer into which something was folded may be anything."""
    return array.ndim < _MATRIX and name.rpartition(".")[0] in folded


def _of_shape(held: Array | None, array: Array) -> Array | None:
    """The artifact's weight as the model has it: exporters may turn the matrix of a linear layer round."""
    if held is None or held.dtype.kind != "f" or held.size == 0:
        return None
    if held.shape == array.shape:
        return held
    return held.T if held.ndim == _MATRIX and held.T.shape == array.shape else None


def _tolerance(held: Array, array: Array) -> float:
    return ROUNDINGS * max(_BFLOAT16_EPS if dtype_name(each) == "bfloat16" else _eps(each) for each in (held, array))


def _eps(array: Array) -> float:
    return float(np.finfo(array.dtype.name).eps)


def _same(ours: npt.NDArray[np.float64], theirs: npt.NDArray[np.float64], tolerance: float) -> bool:
    return bool(np.abs(ours - theirs).max() <= tolerance * np.abs(ours).max(initial=0.0))


def _gone(theirs: Mapping[str, Array], ours: Mapping[str, Array]) -> int:
    """How many layers that hold vectors alone, as normalisations do, have left nothing under their names."""
    layers: dict[str, list[str]] = {}
    for name in ours:
        layers.setdefault(name.rpartition(".")[0], []).append(name)
    vectors = [names for names in layers.values() if {ours[name].ndim for name in names} <= {0, 1}]
    return sum(not any(name in theirs for name in names) for names in vectors)


def _scaled_axis(ours: npt.NDArray[np.float64], theirs: npt.NDArray[np.float64], tolerance: float) -> int | None:
    """The axis, 0 for the output channels or 1, along which each channel is the model's times a number; else None."""
    for axis in (0, 1) if ours.ndim >= _MATRIX else ():
        one, other = (np.moveaxis(each, axis, 0).reshape(each.shape[axis], -1) for each in (ours, theirs))
        if one.shape[1] < _MATRIX:  # one number is always a multiple of another
            continue
        energy = (one * one).sum(axis=1, keepdims=True)
        scales = (one * other).sum(axis=1, keepdims=True) / np.where(energy > 0, energy, 1.0)
        peak = np.abs(other).max(axis=1, keepdims=True)
        if bool((np.abs(other - scales * one) <= tolerance * np.maximum(peak, np.abs(scales * one).max())).all()):
            return axis
    return None
