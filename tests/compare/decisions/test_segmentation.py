from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from tests.compare.cases import case
from tests.compare.decisions.found import decisions

RNG = np.random.default_rng(0)


def maps(n: int = 12, classes: int = 4, size: int = 8) -> Array:
    """Label maps in which every class has its quarter, each map turned otherwise."""
    rows, columns = np.indices((size, size)) // (size // 2)
    plain = (2 * rows + columns) % classes
    return np.stack([np.rot90(plain, at) for at in range(n)])


def as_scores(labels: Array, classes: int = 4) -> Array:
    chosen = np.eye(classes, dtype=np.float32)[labels].transpose(0, 3, 1, 2)
    made: Array = np.add(chosen, RNG.uniform(0, 0.2, chosen.shape)).astype(np.float32)
    return made


def test_healthy_maps_agree_whatever_the_scores(tmp_path: Path) -> None:
    eager = as_scores(maps())
    found = decisions(case(tmp_path, [eager]), eager * np.float32(3))
    for metric in ("pixel_agreement", "mean_iou"):
        assert (found[metric].value, found[metric].flips) == (1.0, 0)
    assert found["mean_iou"].n == 12


def test_two_classes_that_are_swapped_show_in_both_metrics(tmp_path: Path) -> None:
    eager = as_scores(maps())
    found = decisions(case(tmp_path, [eager]), eager[:, [1, 0, 2, 3]])
    assert found["pixel_agreement"].value == 0.5
    assert found["mean_iou"].value == 0.5
    assert found["mean_iou"].high == 0.5


def test_maps_of_labels_are_compared_as_they_are(tmp_path: Path) -> None:
    labels = maps()
    made = case(tmp_path, [labels])
    assert decisions(made, labels)["mean_iou"].value == 1.0
    swapped = np.where(labels == 0, 1, np.where(labels == 1, 0, labels))
    assert decisions(made, swapped)["mean_iou"].value == 0.5


def test_the_mean_is_the_one_over_classes_by_hand_and_the_interval_holds_it(tmp_path: Path) -> None:
    eager = as_scores(maps())
    target = eager.copy()
    target[:3, 3] += np.float32(5)
    ours, theirs = eager.argmax(1), target.argmax(1)
    each = [((ours == k) & (theirs == k)).sum() / ((ours == k) | (theirs == k)).sum() for k in range(4)]
    found = decisions(case(tmp_path, [eager]), target)["mean_iou"]
    assert found.value == pytest.approx(np.mean(each))
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high


def test_a_pixel_between_two_equal_scores_is_a_tie_and_overlaps(tmp_path: Path) -> None:
    eager = as_scores(maps())
    eager[0, :, 0, 0] = [1, 1, 0, 0]
    exact = eager.astype(np.float64)
    exact[0, 1, 0, 0] -= 1e-6
    target = eager.copy()
    target[0, 1, 0, 0] += np.float32(1e-6)
    found = decisions(case(tmp_path, [eager], [exact]), target)
    assert (found["pixel_agreement"].flips, found["pixel_agreement"].ties) == (0, 1)
    assert found["mean_iou"].value == 1.0


def test_one_sample_has_no_interval(tmp_path: Path) -> None:
    eager = as_scores(maps(2))
    made = case(tmp_path, [eager[:1], eager[1:]])
    assert decisions(made, eager[:1])["mean_iou"].low is None


def test_labels_of_pixels_say_how_much_of_the_overlap_is_lost(tmp_path: Path) -> None:
    right = maps()
    eager = as_scores(right)
    unknown = right.copy()
    unknown[:, 0] = 255
    target = eager.copy()
    target[:4, 2] += np.float32(5)
    lost = decisions(case(tmp_path, [eager]), target, labels=unknown)["mean_iou_difference"]
    same = decisions(case(tmp_path, [eager]), eager, labels=unknown)["mean_iou_difference"]
    assert lost.value < -0.1
    assert lost.reference == 1.0
    assert lost.high is not None
    assert lost.high < 0
    assert (same.value, same.low, same.high) == (0, 0, 0)
