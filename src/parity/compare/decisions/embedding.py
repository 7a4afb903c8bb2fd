"""Embeddings: the direction of each vector, and which other sample is its nearest."""

from __future__ import annotations

import numpy as np

from parity.arrays import Array
from parity.compare.decisions.statistics import bootstrap_mean
from parity.compare.decisions.tally import Tally
from parity.compare.decisions.view import Ints, View
from parity.compare.errors import MEASURES, Floats
from parity.records import DecisionFinding

QUERIES = 2000
"""Samples whose neighbours are looked for: a share over so many is known to 1 %, and time stays in proportion to
the number of samples."""

_SEED = 0
_BLOCK = 256
_FEWEST = 3
"""With fewer samples there is one neighbour alone to find."""

_NEIGHBOUR_FLOORS = 8
"""A vector that is off by a relative error of d has cosines that are off by d: two vectors, two cosines that are
compared, on two sides."""


def compare_embedding(view: View) -> list[DecisionFinding]:
    """Cosine similarity of the reference's and the target's vectors, and agreement of nearest neighbours.

    In `[N, T, D]` each position is a vector; the neighbours are those of the mean over positions.
    """
    means: list[float] = []
    lowest = np.inf
    ours: list[Floats] = []
    theirs: list[Floats] = []
    for pair in view.pairs:
        cosines = _cosines(pair.ours, pair.theirs).reshape(len(pair.ours), -1)
        means += cosines.mean(axis=1).tolist()
        lowest = min(lowest, float(cosines.min(initial=np.inf)))
        ours.append(_pooled(pair.ours))
        theirs.append(_pooled(pair.theirs))
    if not means:
        return []
    low, high = bootstrap_mean(np.asarray(means)) or (None, None)
    found = [
        DecisionFinding(
            output=view.name, metric="cosine_mean", value=float(np.mean(means)), low=low, high=high, n=len(means)
        ),
        DecisionFinding(output=view.name, metric="cosine_min", value=lowest, n=len(means)),
    ]
    slack = _NEIGHBOUR_FLOORS * view.yardstick.floors[MEASURES.index("rms/sample")]
    tally = _neighbours(_unit(np.concatenate(ours)), _unit(np.concatenate(theirs)), slack)
    return found + ([tally.finding(view.name, "neighbour_agreement")] if tally.sizes else [])


def _cosines(ours: Array, theirs: Array) -> Floats:
    """Cosine of each pair of vectors along the last axis: 1 for two of zeros, 0 for one of them or for NaN."""
    one, other = _unit(ours.astype(np.float64)), _unit(theirs.astype(np.float64))
    both_zero = ~ours.any(axis=-1) & ~theirs.any(axis=-1)
    either_zero = ~one.any(axis=-1) | ~other.any(axis=-1)
    # For unit vectors the same as their product, and exact where they are equal.
    cosines = np.clip(1 - np.square(one - other).sum(axis=-1) / 2, -1, 1)
    return np.where(both_zero, 1.0, np.where(either_zero, 0.0, cosines))


def _unit(vectors: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        made: Floats = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.nan_to_num(made, posinf=0.0, neginf=0.0)


def _pooled(vectors: Array) -> Floats:
    """One vector for each sample, float64[N, D]."""
    wide = vectors.astype(np.float64)
    return wide if wide.ndim == 2 else wide.mean(axis=1)  # noqa: PLR2004  # [N, D]


def _neighbours(ours: Floats, theirs: Floats, slack: float) -> Tally:
    """Whether each query has the same nearest neighbour on both sides; in blocks, so memory grows with n alone."""
    tally, count = Tally(), len(ours)
    if count < _FEWEST:
        return tally
    queries: Ints = np.arange(count)
    if count > QUERIES:
        queries = np.sort(np.random.default_rng(_SEED).choice(count, QUERIES, replace=False))
    for start in range(0, len(queries), _BLOCK):
        rows = queries[start : start + _BLOCK]
        near, other = _similarities(ours, rows), _similarities(theirs, rows)
        chosen, found = near.argmax(axis=1), other.argmax(axis=1)
        at = np.arange(len(rows))
        changed = np.asarray(chosen != found)
        tied = changed & (near[at, chosen] - near[at, found] <= slack)
        tally.add(changed & ~tied, tied)
    return tally


def _similarities(vectors: Floats, rows: Ints) -> Floats:
    """Cosines of some samples with all, -inf with themselves; float64[rows, n]."""
    made: Floats = vectors[rows] @ vectors.T
    made[np.arange(len(rows)), rows] = -np.inf
    return made
