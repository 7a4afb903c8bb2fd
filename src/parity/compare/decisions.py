"""Decisions: what users act on. Agreement of the most likely class, with an interval, and accuracy."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from parity.arrays import Array, ArrayReader
from parity.compare.floor import UNIT_ROUNDOFF, Yardstick
from parity.records import DecisionFinding, OutputFacts
from parity.samples.calls import Call

CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
_SEQUENCE_RANK = 3
_HOPELESS = 10**9
_CLASSES_RANK = 2


def wilson(successes: float, n: float) -> tuple[float, float]:
    """The Wilson score interval of a proportion at 95 % (Wilson, 1927)."""
    if n <= 0:
        return 0.0, 1.0
    share = successes / n
    centre = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    # At the ends the bound is exact, and rounding must not say otherwise.
    low = 0.0 if successes <= 0 else max(centre - half, 0.0)
    high = 1.0 if successes >= n else min(centre + half, 1.0)
    return low, high


def needed_for(share: float, limit: float) -> int | None:
    """How many decisions would settle on which side of the limit this share lies; None where none would."""

    def settled(n: int) -> bool:
        low, high = wilson(share * n, n)
        return low >= limit or high < limit

    if share == limit:
        return None
    enough = 1
    while not settled(enough):
        enough *= 2
        if enough > _HOPELESS:
            return None
    least = enough // 2 + 1
    return least + bisect.bisect_left(range(least, enough), True, key=settled)  # noqa: FBT003  # what is looked for


def class_axis(output: OutputFacts) -> int | None:
    """The axis that scores the classes: 1 for `[N, C]` and `[N, C, H, W]`, the last for `[N, T, C]`."""
    rank = len(output.shape)
    if (
        output.dtype not in UNIT_ROUNDOFF
        or not output.batched
        or rank < _CLASSES_RANK
        or output.dtype.startswith("complex")
    ):
        return None
    axis = rank - 1 if rank == _SEQUENCE_RANK else 1
    return axis if output.shape[axis] > 1 else None


@dataclass
class _Tally:
    agree: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    flips: int = 0
    ties: int = 0
    right: int = 0
    right_reference: int = 0
    labelled: int = 0


def compare_decisions(
    target: ArrayReader,
    reference: ArrayReader,
    yardsticks: Mapping[str, Yardstick],
    calls: Sequence[Call],
    labels: Array | None,
) -> tuple[DecisionFinding, ...]:
    """Top-1 agreement of every output that scores classes, and accuracy where there are labels."""
    found: list[DecisionFinding] = []
    for name, yardstick in yardsticks.items():
        axis = class_axis(yardstick.output)
        keys = [call for call in calls if call.sweep is None and f"{call.id}/{name}" in target]
        if axis is None or yardstick.constant or not keys:
            continue
        tally = _Tally()
        for call in keys:
            ours, theirs = reference.get(f"{call.id}/{name}"), target.get(f"{call.id}/{name}")
            if ours.shape == theirs.shape:
                _count(tally, ours, theirs, axis, yardstick.absolute)
                _count_labels(tally, ours, theirs, labels, call)
        if tally.sizes:
            found.append(_agreement(name, tally))
        if tally.labelled:
            found.append(_accuracy(name, tally))
    return tuple(found)


def _count(tally: _Tally, ours: Array, theirs: Array, axis: int, floor: float) -> None:
    chosen, other = np.argmax(ours, axis=axis), np.argmax(theirs, axis=axis)
    at_other = np.take_along_axis(ours, np.expand_dims(other, axis), axis).squeeze(axis)
    margin = np.max(ours, axis=axis) - at_other
    changed = chosen != other
    # Either score may have moved by the floor, in the target and in the reference.
    tied = changed & (margin <= 2 * floor)
    flipped = (changed & ~tied).reshape(len(ours), -1)
    tally.flips += int(flipped.sum())
    tally.ties += int(tied.sum())
    tally.sizes.extend([flipped.shape[1]] * len(ours))
    tally.agree.extend((flipped.shape[1] - flipped.sum(axis=1)).tolist())


def _count_labels(tally: _Tally, ours: Array, theirs: Array, labels: Array | None, call: Call) -> None:
    if labels is None or ours.ndim != _CLASSES_RANK:  # labels are one class a sample
        return
    wanted = labels[list(call.samples)]
    tally.right += int((np.argmax(theirs, axis=1) == wanted).sum())
    tally.right_reference += int((np.argmax(ours, axis=1) == wanted).sum())
    tally.labelled += len(wanted)


def _agreement(name: str, tally: _Tally) -> DecisionFinding:
    total = sum(tally.sizes)
    share = sum(tally.agree) / total
    low, high = wilson(share * (n := _effective(tally, share)), n)
    return DecisionFinding(
        output=name, metric="top1_agreement", value=share, low=low, high=high, flips=tally.flips, ties=tally.ties,
        n=total,
    )  # fmt: skip


def _effective(tally: _Tally, share: float) -> float:
    """Decisions within one sample (pixels, tokens) are not independent: divide by the design effect.

    The effective number is `p (1 - p) / var(p)` with the variance between samples (Kish, 1965), at
    least the number of samples and at most the number of decisions. Where all samples agree alike there
    is no variance to learn from, and a sample counts once.
    """
    sizes, agree = np.asarray(tally.sizes, float), np.asarray(tally.agree, float)
    total, count = float(sizes.sum()), len(sizes)
    if count == total:
        return total
    if count < 2 or share in (0.0, 1.0):  # noqa: PLR2004  # a variance needs two
        return float(count)
    variance = float(np.square(agree - share * sizes).sum()) * count / (count - 1) / total**2
    return float(np.clip(share * (1 - share) / variance, count, total)) if variance > 0 else float(count)


def _accuracy(name: str, tally: _Tally) -> DecisionFinding:
    low, high = wilson(tally.right, tally.labelled)
    return DecisionFinding(
        output=name, metric="accuracy", value=tally.right / tally.labelled, low=low, high=high,
        reference=tally.right_reference / tally.labelled, n=tally.labelled,
    )  # fmt: skip
