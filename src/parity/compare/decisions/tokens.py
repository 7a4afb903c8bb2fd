"""Tokens: the one chosen at each position, and whether a whole sequence is the same."""

from __future__ import annotations

import numpy as np

from parity.compare.decisions.statistics import bootstrap
from parity.compare.decisions.tally import Tally
from parity.compare.decisions.view import Ints, View, choices
from parity.compare.errors import Floats
from parity.records import DecisionFinding


def compare_tokens(view: View) -> list[DecisionFinding]:
    """Agreement of tokens and of whole sequences; with labels, the difference in the share of right tokens."""
    tokens, sequences = Tally(), Tally()
    right: list[tuple[int, int, int]] = []
    for pair in view.pairs:
        chosen = choices(view, pair, axis=-1)
        tokens.add(chosen.flipped, chosen.tied)
        changed, tied = np.asarray(chosen.flipped.any(axis=1)), np.asarray(chosen.tied.any(axis=1))
        sequences.add(changed, tied & ~changed)
        wanted = view.labels_of(pair, chosen.ours.shape)
        if wanted is not None:
            known = wanted >= 0  # negative labels mean that nobody knows, as -100 does
            right += [
                (int(((one == label) & each).sum()), int(((other == label) & each).sum()), int(each.sum()))
                for one, other, label, each in zip(chosen.theirs, chosen.ours, wanted, known, strict=True)
            ]
    if not tokens.sizes:
        return []
    found = [tokens.finding(view.name, "token_agreement"), sequences.finding(view.name, "sequence_agreement")]
    return found + _labelled(view.name, right)


def _labelled(output: str, right: list[tuple[int, int, int]]) -> list[DecisionFinding]:
    counts = np.asarray(right, np.float64).reshape(-1, 3)
    if not counts[:, 2].sum():
        return []

    def difference(drawn: Ints) -> Floats:
        target, reference, total = np.moveaxis(drawn @ counts, 1, 0)
        made: Floats = (target - reference) / np.maximum(total, 1)
        return made

    low, high = bootstrap(difference, len(counts)) or (None, None)
    target, reference, total = counts.sum(axis=0)
    return [
        DecisionFinding(
            output=output, metric="token_accuracy_difference", value=float((target - reference) / total), low=low,
            high=high, reference=float(reference / total), n=len(counts),
        )
    ]  # fmt: skip
