"""Classes: which one scores highest, which five do, and whether it is the right one."""

from __future__ import annotations

import numpy as np

from parity.arrays import Array
from parity.compare.decisions.accuracy import Accuracy
from parity.compare.decisions.tally import Tally
from parity.compare.decisions.view import TIE_FLOORS, Mask, View, choices
from parity.records import DecisionFinding

_TOP = 5


def compare_classes(view: View) -> list[DecisionFinding]:
    """Agreement of the most likely class, and of the five most likely where there are more; accuracy with labels."""
    top1, top5, accuracy = Tally(), Tally(), Accuracy()
    for pair in view.pairs:
        chosen = choices(view, pair, axis=1)
        top1.add(chosen.flipped, chosen.tied)
        if view.scored and pair.ours.shape[1] > _TOP:
            top5.add(*_top_sets(pair.ours, pair.theirs, TIE_FLOORS * view.yardstick.absolute))
        wanted = view.labels_of(pair, chosen.ours.shape)
        if wanted is not None:
            accuracy.add(chosen.ours == wanted, chosen.theirs == wanted)
    found = [top1.finding(view.name, "top1_agreement")] if top1.sizes else []
    found += [top5.finding(view.name, "top5_agreement")] if top5.sizes else []
    return found + accuracy.findings(view.name)


def _top_sets(ours: Array, theirs: Array, slack: float) -> tuple[Mask, Mask]:
    """Samples whose five best are another set: beyond the slack, and within it; bool[N] each."""
    kept = np.argpartition(theirs, -_TOP, axis=1)[:, -_TOP:]
    wide = ours.astype(np.float64)
    weakest = np.take_along_axis(wide, kept, axis=1).min(axis=1)
    fifth = np.partition(wide, -_TOP, axis=1)[:, -_TOP]
    # Five others than the reference's hold one that it scores below its fifth.
    changed = weakest < fifth
    tied = changed & (fifth - weakest <= slack)
    return changed & ~tied, tied
