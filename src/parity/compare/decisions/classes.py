"""Classes: which one scores highest, which five do, and whether it is the right one."""

from __future__ import annotations

import numpy as np

from parity.arrays import Array
from parity.compare.decisions.statistics import paired_difference, wilson
from parity.compare.decisions.tally import Tally
from parity.compare.decisions.view import TIE_FLOORS, Choices, Mask, View, choices
from parity.records import DecisionFinding

_TOP = 5


def compare_classes(view: View) -> list[DecisionFinding]:
    """Agreement of the most likely class, and of the five most likely where there are more; accuracy with labels."""
    top1, top5, labelled = Tally(), Tally(), _Labelled()
    for pair in view.pairs:
        chosen = choices(view, pair, axis=1)
        top1.add(chosen.flipped, chosen.tied)
        if view.scored and pair.ours.shape[1] > _TOP:
            top5.add(*_top_sets(pair.ours, pair.theirs, TIE_FLOORS * view.yardstick.absolute))
        wanted = view.labels_of(pair, chosen.ours.shape)
        if wanted is not None:
            labelled.add(chosen, wanted)
    found = [top1.finding(view.name, "top1_agreement")] if top1.sizes else []
    found += [top5.finding(view.name, "top5_agreement")] if top5.sizes else []
    return found + labelled.findings(view.name)


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


class _Labelled:
    """How often target and reference are right about the same samples."""

    def __init__(self) -> None:
        self._counts = np.zeros((2, 2), np.int64)  # by whether the target is right, and the reference

    def add(self, chosen: Choices, wanted: Array) -> None:
        ours, theirs = chosen.ours == wanted, chosen.theirs == wanted
        np.add.at(self._counts, (theirs.astype(int), ours.astype(int)), 1)

    def findings(self, output: str) -> list[DecisionFinding]:
        total = int(self._counts.sum())
        if not total:
            return []
        (neither, only_reference), (only_target, both) = self._counts.tolist()
        right, right_reference = both + only_target, both + only_reference
        low, high = wilson(right, total)
        difference, below, above = paired_difference(only_target, only_reference, both, neither)
        reference = right_reference / total
        return [
            DecisionFinding(
                output=output, metric="accuracy", value=right / total, low=low, high=high, reference=reference, n=total
            ),
            DecisionFinding(
                output=output, metric="accuracy_difference", value=difference, low=below, high=above,
                flips=only_target + only_reference, reference=reference, n=total,
            ),
        ]  # fmt: skip
