"""What a kind of decision looks at: one output of target and reference, call by call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from parity.arrays import Array
from parity.compare.floor import Yardstick
from parity.samples.calls import Call

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

TIE_FLOORS = 2
"""Either of two scores may have moved by the floor."""


@dataclass(frozen=True)
class Pair:
    """One call: what the reference and the target returned, of one shape; `tied` says where integers are ties."""

    call: Call
    ours: Array
    theirs: Array
    tied: Mask | None = None


@dataclass(frozen=True)
class View:
    """One output over the held-out calls.

    Attributes:
        yardstick: Of the output; it holds its name and the floor.
        pairs: The calls in which both sides have it.
        labels: Labels of all held-out samples, or None.
    """

    yardstick: Yardstick
    pairs: tuple[Pair, ...]
    labels: Array | None

    @property
    def name(self) -> str:
        """The output's name."""
        return self.yardstick.output.name

    @property
    def scored(self) -> bool:
        """Whether it holds scores to choose by, and not what was chosen."""
        return self.yardstick.rule != "exact"

    def labels_of(self, pair: Pair, shape: tuple[int, ...]) -> Ints | None:
        """The labels of a call where they have this shape, a class for each decision; None otherwise."""
        if self.labels is None:
            return None
        chosen: Ints = self.labels[list(pair.call.judged)].astype(np.int64)
        return chosen if chosen.shape == shape else None


@dataclass(frozen=True)
class Choices:
    """What was chosen in one call, int64[N, ...], and which of it changed beyond noise and within it."""

    ours: Ints
    theirs: Ints
    flipped: Mask
    tied: Mask

    @property
    def settled(self) -> Ints:
        """What the target chose, ties as the reference broke them."""
        chosen: Ints = np.where(self.tied, self.ours, self.theirs)
        return chosen


def choices(view: View, pair: Pair, axis: int) -> Choices:
    """The choices of one call: the largest of the scores along `axis`, or the integers as they are.

    A change is a tie where the reference's two scores are closer than the floor allows to tell, or where the
    integers differ where the reference has no defined answer.
    """
    if view.scored:
        ours, theirs = np.argmax(pair.ours, axis=axis), np.argmax(pair.theirs, axis=axis)
        changed = np.asarray(ours != theirs)
        tied = np.zeros(changed.shape, bool)
        if changed.any():
            at_other = np.take_along_axis(pair.ours, np.expand_dims(theirs, axis), axis).squeeze(axis)
            margin = np.max(pair.ours, axis=axis).astype(np.float64) - at_other.astype(np.float64)
            tied = changed & (margin <= TIE_FLOORS * view.yardstick.absolute)
    else:
        ours, theirs = pair.ours.astype(np.int64), pair.theirs.astype(np.int64)
        changed = np.asarray(ours != theirs)
        tied = np.zeros(changed.shape, bool) if pair.tied is None else pair.tied
    return Choices(ours, theirs, changed & ~tied, tied)
