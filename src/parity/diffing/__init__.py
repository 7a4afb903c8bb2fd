"""Two reports held side by side: what got better, what got worse, and what cannot be told."""

from parity.diffing.changes import DIFF_SCHEMA, DIFF_STATUS, Change, Diff, Difference, Reading, Side, Trend
from parity.diffing.find import find_changes

__all__ = [
    "DIFF_SCHEMA",
    "DIFF_STATUS",
    "Change",
    "Diff",
    "Difference",
    "Reading",
    "Side",
    "Trend",
    "find_changes",
]
