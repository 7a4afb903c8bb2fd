"""Segmentation: the label of each pixel, and how well the regions overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parity.compare.decisions.statistics import bootstrap
from parity.compare.decisions.tally import Tally
from parity.compare.decisions.view import Ints, Mask, View, choices
from parity.compare.errors import Floats
from parity.records import DecisionFinding


def compare_segmentation(view: View) -> list[DecisionFinding]:
    """Agreement of pixels, and the mean intersection over union of the reference's and the target's label maps.

    Where there are label maps of what is right, also the difference of the two mean intersections over union
    with them.
    """
    tally, maps = Tally(), _Maps()
    target, reference = _Maps(), _Maps()
    for pair in view.pairs:
        chosen = choices(view, pair, axis=1)
        tally.add(chosen.flipped, chosen.tied)
        maps.add(chosen.settled, chosen.ours)
        wanted = view.labels_of(pair, chosen.ours.shape)
        if wanted is not None:
            known = np.isin(wanted, np.arange(pair.ours.shape[1])) if view.scored else wanted >= 0
            target.add(_known(chosen.theirs, known), _known(wanted, known))
            reference.add(_known(chosen.ours, known), _known(wanted, known))
    if not tally.sizes:
        return []
    found = [tally.finding(view.name, "pixel_agreement"), _mean_iou(view.name, maps, tally)]
    return found + _labelled(view.name, target, reference)


def _known(labels: Ints, known: Mask) -> list[Ints]:
    """Labels of each sample where there is one to be right about: 255 and the like mean that nobody knows."""
    return [each[mask] for each, mask in zip(labels, known, strict=True)]


class _Maps:
    """Intersection and union of two label maps of each sample, by class."""

    def __init__(self) -> None:
        self._rows: list[tuple[Ints, Ints]] = []

    def add(self, one: Sequence[Ints] | Ints, other: Sequence[Ints] | Ints) -> None:
        """Count one call, a label map for each sample on both sides."""
        for left, right in zip(one, other, strict=True):
            count = 1 + int(max(np.max(left, initial=0), np.max(right, initial=0)))
            common = np.bincount(np.ravel(left[left == right]), minlength=count)
            each = [np.bincount(np.ravel(np.maximum(side, 0)), minlength=count) for side in (left, right)]
            self._rows.append((common, each[0] + each[1] - common))

    def __len__(self) -> int:
        return len(self._rows)

    def means(self, drawn: Ints) -> Floats:
        """Mean intersection over union of the samples as often as they are drawn, float64[resamples].

        The mean is over the classes that either side has anywhere.
        """
        common, union = (drawn @ table for table in self._tables())
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(union > 0, common / union, 0.0)
        mean: Floats = each.sum(axis=1) / np.maximum((union > 0).sum(axis=1), 1)
        return mean

    def _tables(self) -> tuple[Ints, Ints]:
        width = max(len(row[0]) for row in self._rows)
        padded = [np.stack([np.pad(row[at], (0, width - len(row[at]))) for row in self._rows]) for at in (0, 1)]
        return padded[0], padded[1]


def _whole(maps: _Maps) -> Ints:
    """Every sample once."""
    return np.ones((1, len(maps)), np.int64)


def _mean_iou(output: str, maps: _Maps, tally: Tally) -> DecisionFinding:
    low, high = bootstrap(maps.means, len(maps)) or (None, None)
    return DecisionFinding(
        output=output, metric="mean_iou", value=float(maps.means(_whole(maps))[0]), low=low, high=high,
        flips=tally.flips, ties=tally.ties, n=len(maps),
    )  # fmt: skip


def _labelled(output: str, target: _Maps, reference: _Maps) -> list[DecisionFinding]:
    if not len(target):
        return []

    def difference(drawn: Ints) -> Floats:
        return target.means(drawn) - reference.means(drawn)

    low, high = bootstrap(difference, len(target)) or (None, None)
    return [
        DecisionFinding(
            output=output, metric="mean_iou_difference", value=float(difference(_whole(target))[0]), low=low, high=high,
            reference=float(reference.means(_whole(reference))[0]), n=len(target),
        )
    ]  # fmt: skip
