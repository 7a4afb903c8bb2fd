from __future__ import annotations

import numpy as np
import pytest

from parity.compare.iou import similarity


def boxes(*each: tuple[float, float, float, float]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(each, np.float64)


def test_overlap_is_the_common_area_over_the_joint_one() -> None:
    one = boxes((0, 0, 2, 2), (0, 0, 2, 2), (0, 0, 2, 2))
    other = boxes((0, 0, 2, 2), (1, 0, 3, 2), (5, 5, 6, 6))
    assert similarity(one, other).tolist() == pytest.approx([1, 1 / 3, 0])
    assert similarity(one[:, None], other[None]).shape == (3, 3)


def test_boxes_of_centre_and_size_are_told_by_ends_that_come_before_beginnings() -> None:
    one = boxes((10, 10, 2, 2))
    assert similarity(one, boxes((11, 10, 2, 2))).tolist() == pytest.approx([1 / 3])


def test_a_box_without_area_overlaps_with_itself_alone() -> None:
    one = boxes((5, 5, 5, 9))
    assert similarity(one, one).tolist() == [1.0]
    assert similarity(one, boxes((0, 0, 9, 9))).tolist() == [0.0]


def test_what_is_not_finite_overlaps_with_nothing_and_no_boxes_have_no_overlaps() -> None:
    assert similarity(boxes((np.nan, 0, 1, 1)), boxes((0, 0, 1, 1))).tolist() == [0.0]
    assert similarity(np.zeros((0, 1, 4)), boxes((0, 0, 1, 1))[None]).shape == (0, 1)
