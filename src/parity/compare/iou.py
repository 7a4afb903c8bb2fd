"""How much boxes overlap."""

from __future__ import annotations

import numpy as np

from parity.compare.errors import Floats

_NEAR = 1e-4
"""Corners within this share of the largest coordinate are the same: a box without area overlaps with nothing."""


def similarity(one: Floats, other: Floats) -> Floats:
    """Intersection over union, and 1 for boxes whose corners all but coincide, whatever their area.

    Args:
        one: Boxes `[..., 4]` as corners `[x1, y1, x2, y2]`, or as centre and size.
        other: The same, of a shape that broadcasts: `one[:, None]` and `other[None]` are every pair.

    Returns:
        float64[...]; 0 where a box is not finite.
    """
    if not one.size or not other.size:
        return np.zeros(np.broadcast_shapes(one.shape[:-1], other.shape[:-1]))
    extent = max(float(np.max(np.abs(each[np.isfinite(each)]), initial=0.0)) for each in (one, other))
    with np.errstate(invalid="ignore"):
        near = np.abs(one - other).max(axis=-1) <= _NEAR * extent
    return np.where(near, 1.0, _iou(*_corners(one, other)))


def _iou(one: Floats, other: Floats) -> Floats:
    low = np.maximum(one[..., :2], other[..., :2])
    high = np.minimum(one[..., 2:], other[..., 2:])
    common = np.prod(np.clip(high - low, 0, None), axis=-1)
    union = _area(one) + _area(other) - common
    with np.errstate(divide="ignore", invalid="ignore"):
        shares: Floats = np.where(union > 0, common / union, 0.0)
    return np.nan_to_num(shares)


def _corners(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Both as corners. Where any box ends before it begins, the last two numbers are sizes around a centre."""
    if all(bool((each[..., 2:] >= each[..., :2]).all()) for each in (one, other)):
        return one, other
    halves = [each[..., 2:] / 2 for each in (one, other)]
    made = [
        np.concatenate([each[..., :2] - half, each[..., :2] + half], axis=-1)
        for each, half in zip((one, other), halves, strict=True)
    ]
    return made[0], made[1]


def _area(boxes: Floats) -> Floats:
    size: Floats = np.prod(np.clip(boxes[..., 2:] - boxes[..., :2], 0, None), axis=-1)
    return size
