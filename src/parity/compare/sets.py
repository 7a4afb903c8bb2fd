"""Which outputs are sets: detections, whose order says nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from parity.records import OutputFacts

_BOXES = frozenset({"boxes", "bboxes", "pred_boxes", "detection_boxes"})
_SCORES = frozenset({"scores", "confidences", "pred_scores", "detection_scores"})
_LABELS = frozenset({"labels", "classes", "class_ids", "pred_classes", "pred_labels", "detection_classes"})
_CORNERS = 4
_ONE_SET, _MANY_SETS = 2, 3


@dataclass(frozen=True)
class SetGroup:
    """Outputs whose rows belong together.

    Attributes:
        boxes: Name of the output of boxes, `[K, 4]` or `[N, K, 4]`.
        scores: Of their scores, or None.
        labels: Of their labels, or None.
        members: Of all outputs with a row for each box: these, and masks or keypoints beside them.
        flat: Whether one call is one set, `[K, 4]`, and K may be any number.
        near: Relative difference under which two boxes are one with other rounding: half of the digits, the square
            root of the unit of round-off. What moves by more was chosen otherwise on the way.
    """

    boxes: str
    scores: str | None
    labels: str | None
    members: tuple[str, ...]
    flat: bool
    near: float


def set_groups(outputs: Iterable[OutputFacts]) -> tuple[SetGroup, ...]:
    """The groups among outputs: by their names, such as `output_0.boxes`, else a tuple that can be nothing else.

    Outputs of which it is known that they stand for another decision are left out.
    """
    by_place: dict[str, list[OutputFacts]] = {}
    for output in outputs:
        if output.decision in (None, "detection"):
            by_place.setdefault(output.name.rpartition(".")[0], []).append(output)
    found = [_by_names(beside) or _by_shapes(beside) for beside in by_place.values()]
    return tuple(group for group in found if group is not None)


def _by_names(beside: Sequence[OutputFacts]) -> SetGroup | None:
    boxes = next((each for each in beside if _last(each) in _BOXES and _are_boxes(each)), None)
    if boxes is None:
        return None
    rows = [each for each in beside if each.shape[: len(boxes.shape) - 1] == boxes.shape[:-1]]
    scores = next((each.name for each in rows if _last(each) in _SCORES and _one_each(each, boxes)), None)
    labels = next((each.name for each in rows if _last(each) in _LABELS and _one_each(each, boxes)), None)
    if scores is None and labels is None:
        return None
    return SetGroup(
        boxes.name, scores, labels, tuple(each.name for each in rows), len(boxes.shape) == _ONE_SET, _near(boxes)
    )


def _by_shapes(beside: Sequence[OutputFacts]) -> SetGroup | None:
    for boxes in beside:
        if not _are_boxes(boxes) or (len(boxes.shape) == _ONE_SET and boxes.batched):
            continue
        each = [output for output in beside if _one_each(output, boxes)]
        scores = [output.name for output in each if _is_float(output)]
        labels = [output.name for output in each if output.dtype.startswith(("int", "uint"))]
        if len(scores) == len(labels) == 1:
            members = (boxes.name, *scores, *labels)
            return SetGroup(boxes.name, scores[0], labels[0], members, len(boxes.shape) == _ONE_SET, _near(boxes))
    return None


def _near(boxes: OutputFacts) -> float:
    return math.sqrt(float(np.finfo(boxes.dtype).eps) / 2)


def _last(output: OutputFacts) -> str:
    return output.name.rpartition(".")[2].lower()


def _is_float(output: OutputFacts) -> bool:
    return output.dtype.startswith(("float", "bfloat"))


def _are_boxes(output: OutputFacts) -> bool:
    return _is_float(output) and len(output.shape) in (_ONE_SET, _MANY_SETS) and output.shape[-1] == _CORNERS


def _one_each(output: OutputFacts, boxes: OutputFacts) -> bool:
    return output.shape == boxes.shape[:-1]
