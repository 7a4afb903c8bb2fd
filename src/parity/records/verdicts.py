"""What can become of a cell, and the verdict of a whole from its parts."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Verdict(str, Enum):
    """What a gate decided. `inconclusive` is never `pass`."""

    PASS = "pass"  # noqa: S105  # a verdict, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    SKIP = "skip"

    def __str__(self) -> str:
        return self.value


class Stage(str, Enum):
    """Where in its life a cell ended."""

    LOAD = "load"
    EXPORT = "export"
    OPEN = "open"
    RUN = "run"
    COMPARE = "compare"
    TIME = "time"
    DONE = "done"

    def __str__(self) -> str:
        return self.value


RAN = (Stage.DONE, Stage.COMPARE)
"""Where a cell ended that answered every held-out call."""


class Symptom(str, Enum):
    """How a cell ended."""

    OK = "ok"
    MISMATCH = "mismatch"
    EXCEPTION = "exception"
    CRASH = "crash"
    TIMEOUT = "timeout"
    UNSUPPORTED = "unsupported"
    UNAVAILABLE = "unavailable"

    def __str__(self) -> str:
        return self.value


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of the whole from the verdicts of its parts.

    One `fail` fails and one `inconclusive` leaves it open. Skipped parts do not count, but where every
    part was skipped there is nothing that passed, and the whole is a `skip`.
    """
    seen = set(verdicts)
    for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS):
        if verdict in seen:
            return verdict
    return Verdict.SKIP


EXIT_STATUS = {Verdict.PASS: 0, Verdict.FAIL: 1, Verdict.INCONCLUSIVE: 3, Verdict.SKIP: 3}
"""Exit status of the command line by the report's verdict; 2 is a request that is itself wrong."""
