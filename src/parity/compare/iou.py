"""How much boxes overlap."""

from __future__ import annotations

import numpy as np

from parity.compare.errors import Floats

_NEAR = 1e-4
"""Corners within this share of the largest coordinate are the same: a box without area overlaps with nothing."""


def iou(one: Floats, other: Floats) -> Floats:
    """Intersection over union of every pair of boxes, corners `[x1, y1, x2, y2]` or centre and size.

    Args:
        one: float64[K, 4].
        other: float64[L, 4].

    Returns:
        float64[K, L]; 0 where either is not finite or neither has an area.
    """
    one, other = _corners(one, other)
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    common = np.prod(np.clip(high - low, 0, None), axis=-1)
    union = _area(one)[:, None] + _area(other)[None, :] - common
    with np.errstate(divide="ignore", invalid="ignore"):
        shares: Floats = np.where(union > 0, common / union, 0.0)
    return np.nan_to_num(shares)


def similarity(one: Floats, other: Floats) -> Floats:
    """The same, and 1 for boxes whose corners all but coincide, whatever their area."""
    if not len(one) or not len(other):
        return np.zeros((len(one), len(other)))
    extent = max(float(np.max(np.abs(each[np.isfinite(each)]), initial=0.0)) for each in (one, other))
    with np.errstate(invalid="ignore"):
        near = np.abs(one[:, None] - other[None, :]).max(axis=-1) <= _NEAR * extent
    return np.where(near, 1.0, iou(one, other))


def _corners(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Both as corners. Where any box ends before it begins, the last two numbers are sizes around a centre."""
    if all(bool((each[:, 2:] >= each[:, :2]).all()) for each in (one, other)):
        return one, other
    halves = [each[:, 2:] / 2 for each in (one, other)]
    made = [
        np.concatenate([each[:, :2] - half, each[:, :2] + half], axis=1)
        for each, half in zip((one, other), halves, strict=True)
    ]
    return made[0], made[1]


def _area(boxes: Floats) -> Floats:
    size: Floats = np.prod(np.clip(boxes[:, 2:] - boxes[:, :2], 0, None), axis=1)
    return size
