"""How often target and reference are right about the same samples."""

from __future__ import annotations

import numpy as np

from parity.compare.decisions.statistics import paired_difference, wilson
from parity.compare.decisions.view import Mask
from parity.records import DecisionFinding


class Accuracy:
    """Counts answers by whether the target is right, and whether the reference is."""

    def __init__(self) -> None:
        self._counts = np.zeros((2, 2), np.int64)

    def add(self, ours: Mask, theirs: Mask) -> None:
        """Count one call: where the reference is right and where the target is, two masks of one shape."""
        np.add.at(self._counts, (theirs.astype(int), ours.astype(int)), 1)

    def findings(self, output: str) -> list[DecisionFinding]:
        """The target's accuracy, and its difference from the reference's; nothing where nothing was counted."""
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
