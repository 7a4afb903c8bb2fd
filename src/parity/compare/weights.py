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

    Folding a normalisation into the layer before it multiplies each of its output channels by a number, and changes
    its bias by anything: such a layer counts as the same.

    Args:
        theirs: By name, as the artifact has them; those without the model's name are passed over.
        ours: By name, as the model has them.
        beside: Names of those that lie in a file of their own, where they can be another export's although the small
            ones within the graph are not; suspicion then rests on them alone.
    """
    alike: dict[str, bool] = {}
    folded: set[str] = set()
    for name, array in ours.items():
        held = _of_shape(theirs.get(name), array)
        if held is None or array.dtype.kind != "f":
            continue
        wide, other, tolerance = array.astype(np.float64), held.astype(np.float64), _tolerance(held, array)
        if _same(wide, other, tolerance):
            if np.ptp(wide) > 0:
                alike[name] = True
        elif wide.ndim >= _MATRIX and _scaled(wide, other, tolerance):
            alike[name] = True
            folded.add(name.rpartition(".")[0])
        else:
            alike[name] = False
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


def _scaled(ours: npt.NDArray[np.float64], theirs: npt.NDArray[np.float64], tolerance: float) -> bool:
    """Whether each channel along one of the first two axes is the model's times a number."""
    for axis in (0, 1):
        one, other = (np.moveaxis(each, axis, 0).reshape(each.shape[axis], -1) for each in (ours, theirs))
        if one.shape[1] < _MATRIX:  # one number is always a multiple of another
            continue
        energy = (one * one).sum(axis=1, keepdims=True)
        scales = (one * other).sum(axis=1, keepdims=True) / np.where(energy > 0, energy, 1.0)
        peak = np.abs(other).max(axis=1, keepdims=True)
        if bool((np.abs(other - scales * one) <= tolerance * np.maximum(peak, np.abs(scales * one).max())).all()):
            return True
    return False
