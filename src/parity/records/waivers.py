"""A waiver as it was met: what it loosens, until when, and what would hold without it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from parity.records.verdicts import Verdict


class WaiverState(str, Enum):
    """What became of a waiver at one cell."""

    WAIVED = "waived"
    EXPIRED = "expired"
    NOT_NEEDED = "not needed"
    KEPT = "kept"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, kw_only=True)
class WaiverResult:
    """One waiver at one cell.

    `expires` is the last day on which it holds, ISO 8601. `check` and `output` are what it is narrowed to.
    `state` is `waived` where a failure is covered; `expired` and `not needed` fail the cell; `kept` says
    that the cell is inconclusive, which cannot tell. `verdict` and `message` are the cell's without it.
    """

    target: str
    reason: str
    expires: str
    state: WaiverState
    verdict: Verdict
    check: str | None = None
    output: str | None = None
    message: str | None = None
