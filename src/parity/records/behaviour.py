"""Findings on how a target behaves beside the numbers that it returns."""

from __future__ import annotations

from dataclasses import dataclass

from parity.records.verdicts import Verdict


@dataclass(frozen=True, kw_only=True)
class BehaviourFinding:
    """One fact about how a target behaves.

    `kind` says which, and what `name` names:

    - `constant_dimension`: the artifact itself says that a symbol of the signature is a constant, or narrower
      than the signature; `name` is the input or output.
    - `repeatability`: the same input given again; `name` is the output.
    - `batch_invariance`: a sample alone against the same sample in a batch; `name` is the output.
    - `excluded_shape`: an input that the signature excludes and eager refuses; `name` is its shapes.
    - `matched`: inputs or outputs (which `name` says) that only their position tells apart in a file made elsewhere, or
      inputs that it has not.
    - `died_at_excluded_shape`: the process died at such an input, and everything else was run again.

    `error` and `ratio` are between two answers of the target, as a numeric finding has them between target
    and oracle. `worst_sample` is the sample whose answers differ most. `detail` is empty where all is well.
    """

    kind: str
    name: str
    error: float | None = None
    ratio: float | None = None
    allowance: float | None = None
    sqnr_db: float | None = None
    mismatched: int | None = None
    worst_sample: int | None = None
    detail: str | None = None


@dataclass(frozen=True, kw_only=True)
class BehaviourResult(BehaviourFinding):
    """A behaviour finding with its limit and verdict; no verdict where it is information only."""

    verdict: Verdict | None = None
    limit: float | None = None
    message: str | None = None
