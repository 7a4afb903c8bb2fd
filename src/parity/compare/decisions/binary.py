"""Binary decisions: each score held against a threshold, a yes above it and a no below."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parity.arrays import Array
from parity.compare.decisions.accuracy import Accuracy
from parity.compare.decisions.tally import Tally
from parity.compare.decisions.view import Ints, Mask, Pair, View
from parity.records import DecisionFinding

_METRICS = {True: "positive_agreement", False: "negative_agreement"}


def compare_binary(view: View) -> list[DecisionFinding]:
    """How many of the reference's yes stay, and how many of its no.

    They are counted apart (positive and negative agreement, Cicchetti and Feinstein, "High agreement but low kappa:
    II", 1990): where one of them is rare, together they would hardly show that all of it is gone. The threshold is 0.5
    where all of the reference's scores are probabilities, from 0 to 1, and 0 otherwise, where they are logits.
    """
    threshold = _threshold(view)
    tallies = {True: Tally(), False: Tally()}
    accuracy = Accuracy()
    for pair in view.pairs:
        made = _decisions(view, pair, threshold)
        for answer, tally in tallies.items():
            for asked, flipped, tied in zip(made.ours == answer, made.flipped, made.tied, strict=True):
                tally.count(int(asked.sum()), int((asked & flipped).sum()), int((asked & tied).sum()))
        wanted = _labels(view, pair)
        if wanted is not None:
            accuracy.add(made.ours == wanted, made.theirs == wanted)
    found = [
        tally.finding(view.name, _METRICS[answer]) if tally.sizes else _never(view.name, _METRICS[answer])
        for answer, tally in tallies.items()
    ]
    return found + accuracy.findings(view.name)


def _labels(view: View, pair: Pair) -> Ints | None:
    """What is right, 1 for yes and 0 for no, int64[N, decisions]; None where that is not told for each decision."""
    shape = pair.ours.shape
    shapes = (shape, shape[:-1]) if shape[-1] == 1 else (shape,)
    found = (view.labels_of(pair, each) for each in shapes)
    return next((wanted.reshape(len(wanted), -1) for wanted in found if wanted is not None), None)


def _threshold(view: View) -> float:
    probabilities = all(bool(((pair.ours >= 0) & (pair.ours <= 1)).all()) for pair in view.pairs)  # type: ignore[operator]  # floats
    return 0.5 if probabilities else 0.0


def _never(output: str, metric: str) -> DecisionFinding:
    return DecisionFinding(output=output, metric=metric, value=1.0, flips=0, ties=0, n=0)


@dataclass(frozen=True)
class _Decisions:
    """Of one call, bool[N, decisions] each."""

    ours: Mask
    theirs: Mask
    flipped: Mask
    tied: Mask


def _decisions(view: View, pair: Pair, threshold: float) -> _Decisions:
    ours, theirs = _above(pair.ours, threshold), _above(pair.theirs, threshold)
    changed = ours != theirs
    # The threshold does not move, so that one floor is all that a score can have moved by.
    wide = pair.ours.astype(np.float64).reshape(len(pair.ours), -1)
    near: Mask = np.abs(wide - threshold) <= view.yardstick.absolute
    return _Decisions(ours, theirs, changed & ~near, changed & near)


def _above(scores: Array, threshold: float) -> Mask:
    above: Mask = scores.astype(np.float64).reshape(len(scores), -1) > threshold
    return above
