"""The records of a comparison of two reports: what they rest on, and one change for each cell that both have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from parity.records import Verdict

DIFF_SCHEMA = "parity-diff/1"
"""The schema of `parity diff --json`. Fields may be added under it; a renamed one needs another number."""


class Trend(str, Enum):
    """What became of something between two reports. `cannot be told` is never `same`."""

    WORSE = "worse"
    UNKNOWN = "cannot be told"
    BETTER = "better"
    SAME = "same"

    def __str__(self) -> str:
        return self.value


DIFF_STATUS = {Trend.WORSE: 1, Trend.UNKNOWN: 3, Trend.BETTER: 0, Trend.SAME: 0}
"""Exit status of the command line by the trend of the whole; 2 is a request that is itself wrong."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One value as one of the reports has it; `low` and `high` bound it with 95 % confidence where it was sampled."""

    value: float | int | str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Change:
    """One cell of both reports.

    `target` is absent where it concerns the report as a whole. `what` is one of `verdict`, `numeric`, `decision`,
    `shape`, `behaviour`, `golden`, `budget`, `latency`, `startup`, `throughput`, `memory` and `size`, and `where` says
    which one of them: the output, metric, batch size, threads, sizes of other symbols.
    `unit` is what `old` and `new` are in: `verdict`, `floors`, `dB`, `values` (that differ), `share`, `ratio`,
    `ms`, `samples/s`, `batch` or `bytes`. What only one report has is absent from the other side.
    `change` is new over old, or new minus old where `unit` is `share` or `dB`, and `least` the smallest one that
    matters, in the same terms. `effort` is how many times the evidence would tell, where it does not and an amount that
    can be had would. `verdict` is absent where it is information only.
    """

    target: str | None = None
    what: str
    where: dict[str, str | int]
    unit: str
    old: Reading | None = None
    new: Reading | None = None
    change: Reading | None = None
    least: float | None = None
    effort: float | None = None
    verdict: Trend | None = None
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Something that the reports rest on and do not share, and what of them cannot be compared for it.

    `kind` is one of `model`, `samples`, `versions`, `machine` and `settings`. `bars` are kinds of changes (a
    change's `what`) that are not judged because of it, and `consequence` says so, or what to keep in mind.
    """

    kind: str
    name: str
    old: str
    new: str
    bars: tuple[str, ...] = ()
    consequence: str = ""


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two reports: what it is of, when and by which version it was made, and its verdict."""

    model: str
    created: str
    parity: str
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Diff:
    """Two reports of one model, side by side."""

    schema: str
    old: Side
    new: Side
    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    verdict: Trend


def trend_of(changes: Iterable[Change]) -> Trend:
    """The trend of the whole: one thing that is worse makes it worse, one that cannot be told leaves it open."""
    seen = {change.verdict for change in changes}
    return next((trend for trend in (Trend.WORSE, Trend.UNKNOWN, Trend.BETTER) if trend in seen), Trend.SAME)
