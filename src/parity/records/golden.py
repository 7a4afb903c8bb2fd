"""What is held against the golden, and what a gate made of it."""

from __future__ import annotations

from dataclasses import dataclass

from parity.records.findings import NumericFinding
from parity.records.verdicts import Verdict


@dataclass(frozen=True, kw_only=True)
class GoldenFinding:
    """One thing held against the golden.

    `kind` says what `name` names: an `output` of the reference, a `target`, or what has moved since the
    golden was recorded: `model` (`weights`, `code`), `data` (`samples`), `toolchain` (a package, or the
    `machine`). Kind `reference` says in `detail` why nothing could be compared.

    An output has `numeric`: the golden's outputs stand for a target's, today's oracle and floor are what
    they are held against, and `worst_sample` counts today's samples. A target has its worst error ratio
    and its agreement of today and of the golden. What moved has both states as text, and data `n`, the
    number of kept samples that are still there, `of` how many.
    """

    kind: str
    name: str
    numeric: NumericFinding | None = None
    ratio: float | None = None
    golden_ratio: float | None = None
    agreement: float | None = None
    golden_agreement: float | None = None
    today: str | None = None
    golden: str | None = None
    n: int | None = None
    of: int | None = None
    detail: str | None = None


@dataclass(frozen=True, kw_only=True)
class GoldenResult(GoldenFinding):
    """A golden finding in words, with its limit and verdict; no verdict where it is information only."""

    message: str
    verdict: Verdict | None = None
    limit: float | None = None
    moved: bool | None = None
