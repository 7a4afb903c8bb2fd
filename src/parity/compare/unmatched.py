"""Detections that stand on one side only: which of them are flips, and which the reference itself is unsure of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from parity.arrays import ArrayReader
from parity.compare.errors import Floats
from parity.compare.floor import ReferenceArrays, Yardstick
from parity.compare.iou import similarity
from parity.compare.matching import MOVED, Detections, Mask, comparable, detections, match_sets
from parity.compare.orders import MOVED_FLOORS
from parity.compare.sets import SetGroup
from parity.records import NumericFinding
from parity.samples.calls import Call


@dataclass(frozen=True)
class SetDifference:
    """One sample's sets on both sides.

    Attributes:
        pairs: How many boxes both have.
        flips: Boxes that one side alone has, and that no rounding explains.
        ties: Boxes that one side alone has because rounding decides whether they are there.
        overlap: Intersection over union of each pair, float64[pairs].
        apart: Difference of their scores, float64[pairs].
        missing: Scores of the flips, the highest first.
    """

    pairs: int
    flips: int
    ties: int
    overlap: Floats
    apart: Floats
    missing: tuple[float, ...]


@dataclass(frozen=True)
class Cut:
    """What decides whether a box is there: the lowest score ever kept, and how many boxes there may be."""

    lowest: float
    most: int

    def near(self, scores: Floats, other: Detections, slack: float) -> Mask:
        """Which scores are so near the cut of the side that lacks the box that rounding may decide; bool[scores].

        That side cuts at the lowest score that it keeps in this sample, where it keeps as many boxes as it
        ever does, and at the lowest score that it keeps anywhere.
        """
        found: Mask = np.abs(scores - self.lowest) <= slack
        if len(other) and len(other) >= self.most:
            found |= scores <= float(other.scores.min()) + slack
        return found


def set_differences(
    group: SetGroup,
    target: ArrayReader,
    arrays: ReferenceArrays,
    scores: Yardstick | None,
    calls: Sequence[Call],
    *,
    least: float = MOVED,
) -> list[tuple[Call, list[SetDifference]]]:
    """The differences of one group, sample by sample, in every call that both sides have in the same layout.

    A box that one side alone has is a tie where its score is at the cut of the other side, or where the
    reference says the other thing under other rounding: in float64, or under a jitter of a few units in the last
    place.

    Args:
        group: The outputs.
        target: What the target returned.
        arrays: What the reference returned.
        scores: The yardstick of the scores, or None where there are none.
        calls: The calls.
        least: How much two boxes overlap that are one.
    """
    plain, eager = target.plain(), arrays.eager.plain()
    present = [call for call in calls if comparable(group, plain, eager, call.id)]
    ours = {call.id: detections(group, eager, call.id) for call in present}
    theirs = {call.id: detections(group, plain, call.id) for call in present}
    slack = MOVED_FLOORS * scores.absolute if scores else None
    cuts = [_cut([each for sets in side.values() for each in sets]) for side in (ours, theirs)]
    found: list[tuple[Call, list[SetDifference]]] = []
    for call in present:
        variants = arrays.set_variants(group, call.id)
        found.append((call, []))
        for at, (one, other) in enumerate(zip(ours[call.id], theirs[call.id], strict=True)):
            seen = [sets[at] for sets in variants if at < len(sets)]
            found[-1][1].append(_difference(group, one, other, seen, cuts=cuts, slack=slack, least=least))
    return found


def _cut(sets: Sequence[Detections]) -> Cut:
    kept = [float(each.scores.min()) for each in sets if len(each)]
    return Cut(min(kept, default=np.inf), max((len(each) for each in sets), default=0))


def _difference(
    group: SetGroup,
    ours: Detections,
    theirs: Detections,
    variants: Sequence[Detections],
    *,
    cuts: Sequence[Cut],
    slack: float | None,
    least: float,
) -> SetDifference:
    def at_cut(one: Detections, other: Detections) -> tuple[Mask, Mask]:
        if slack is None:
            return np.zeros(len(one), bool), np.zeros(len(other), bool)
        return cuts[1].near(one.scores, other, slack), cuts[0].near(other.scores, one, slack)

    found = match_sets(ours, theirs, variants, near=group.near, least=least, explained=at_cut)
    scores = np.sort(np.concatenate([ours.scores[found.lost], theirs.scores[found.new]]))[::-1]
    pairs = [ours.at(found.rows), theirs.at(found.columns)]
    return SetDifference(
        pairs=len(found.rows),
        flips=len(scores),
        ties=len(ours) + len(theirs) - 2 * len(found.rows) - len(scores),
        overlap=similarity(pairs[0].boxes, pairs[1].boxes),
        apart=np.abs(pairs[0].scores - pairs[1].scores),
        missing=tuple(scores.tolist()),
    )


def in_sets(
    finding: NumericFinding,
    target: ArrayReader,
    arrays: ReferenceArrays,
    yardsticks: Mapping[str, Yardstick],
    calls: Sequence[Call],
) -> NumericFinding:
    """The finding on a float output with what its set lacks or has besides; as it is where it is in no set.

    What is compared by value are the pairs. The output of the boxes says how many have none.
    """
    group = next((each for each in arrays.sets if finding.output in each.members), None)
    if group is None:
        return finding
    finding = replace(finding, rule="matched")
    if finding.output != group.boxes:
        return finding
    scores = yardsticks.get(group.scores) if group.scores else None
    found = set_differences(group, target, arrays, scores, calls)
    flips = [(call, max(each.missing)) for call, sets in found for each in sets if each.flips]
    worst = max(flips, key=lambda each: each[1], default=None)
    counted = [each for _, sets in found for each in sets]
    total = sum(each.pairs + each.flips + each.ties for each in counted)
    number = sum(each.flips for each in counted)
    ties = sum(each.ties for each in counted)
    detail = f"rounding decides which {ties} of {total} boxes there are" if 2 * ties > total else finding.detail
    if worst:
        detail = f"{number} of {total} boxes are on one side only, with a score of {worst[1]:.3g} at most"
    return replace(
        finding,
        mismatched=number,
        ties=ties or None,
        detail=detail,
        worst_sample=worst[0].samples[0] if worst else finding.worst_sample,
    )
