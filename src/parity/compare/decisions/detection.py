"""Detection: which boxes are found, how well they overlap, and how far their scores are apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from parity.arrays import ArrayReader
from parity.compare.decisions.statistics import bootstrap_mean
from parity.compare.decisions.tally import Tally
from parity.compare.floor import ReferenceArrays, Yardstick
from parity.compare.sets import SetGroup
from parity.compare.unmatched import SetDifference, set_differences
from parity.records import DecisionFinding
from parity.samples.calls import Call

FOUND = 0.5
"""A box is found where one of the same label overlaps it by half, the criterion of PASCAL VOC (Everingham, 2010)."""


def compare_detection(
    target: ArrayReader, arrays: ReferenceArrays, yardsticks: Mapping[str, Yardstick], calls: Sequence[Call]
) -> list[DecisionFinding]:
    """Agreement on which boxes there are, overlap and score difference of those that both sides have.

    Boxes are matched as sets, so their order says nothing. Groups that differ by a number alone, such as
    `output_0.boxes` and `output_1.boxes`, are one list over the images of a batch and are counted together.
    """
    together: dict[str, list[SetGroup]] = {}
    for group in arrays.sets:
        together.setdefault(re.sub(r"\d+", "*", group.boxes), []).append(group)
    found: list[DecisionFinding] = []
    for pattern, groups in together.items():
        differences = [
            each
            for group in groups
            for _, sets in set_differences(group, target, arrays, _scores(group, yardsticks), calls, least=FOUND)
            for each in sets
        ]
        name = groups[0].boxes if len(groups) == 1 else pattern
        found += _findings(name, differences, scored=any(group.scores for group in groups))
    return found


def _scores(group: SetGroup, yardsticks: Mapping[str, Yardstick]) -> Yardstick | None:
    return yardsticks.get(group.scores) if group.scores else None


def _findings(name: str, differences: Sequence[SetDifference], *, scored: bool) -> list[DecisionFinding]:
    tally = Tally()
    for each in differences:
        tally.count(each.pairs + each.flips + each.ties, each.flips, each.ties)
    if not tally.sizes:
        return []
    found = [tally.finding(name, "detection_agreement")]
    overlaps = np.asarray([each.overlap.mean() for each in differences if each.pairs])
    if len(overlaps):
        low, high = bootstrap_mean(overlaps) or (None, None)
        found.append(
            DecisionFinding(
                output=name, metric="box_iou", value=float(overlaps.mean()), low=low, high=high, n=len(overlaps)
            )
        )
    if scored and len(overlaps):
        apart = np.concatenate([each.apart for each in differences])
        found.append(DecisionFinding(output=name, metric="score_difference", value=float(apart.mean()), n=len(apart)))
    return found
