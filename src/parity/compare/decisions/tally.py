"""Counts decisions that agree, sample by sample."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from parity.compare.decisions.statistics import effective, wilson
from parity.compare.decisions.view import Mask
from parity.records import DecisionFinding


@dataclass
class Tally:
    """Decisions of each sample, and how many of them agree; ties agree."""

    sizes: list[int] = field(default_factory=list)
    agree: list[int] = field(default_factory=list)
    flips: int = 0
    ties: int = 0

    def add(self, flipped: Mask, tied: Mask) -> None:
        """Count one call, bool[samples, ...]."""
        for one, other in zip(flipped.reshape(len(flipped), -1), tied.reshape(len(tied), -1), strict=True):
            self.count(one.size, int(one.sum()), int(other.sum()))

    def count(self, size: int, flips: int, ties: int) -> None:
        """Count one sample; one without any decision says nothing."""
        if size:
            self.sizes.append(size)
            self.agree.append(size - flips)
            self.flips += flips
            self.ties += ties

    def finding(self, output: str, metric: str) -> DecisionFinding:
        """The share that agrees, with the Wilson interval of as many independent decisions as these are worth."""
        sizes, agree = np.asarray(self.sizes, np.float64), np.asarray(self.agree, np.float64)
        share, n = float(agree.sum() / sizes.sum()), effective(sizes, agree)
        low, high = wilson(share * n, n)
        return DecisionFinding(
            output=output, metric=metric, value=share, low=low, high=high, flips=self.flips, ties=self.ties,
            n=sum(self.sizes),
        )  # fmt: skip
