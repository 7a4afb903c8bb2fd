"""Scores with a threshold: what stays yes and what stays no are two things."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from parity.compare.decisions.statistics import wilson
from tests.compare.cases import case
from tests.compare.decisions.found import decisions

BINARY = (("y", "binary"),)


def column(*scores: float) -> Array:
    return np.asarray(scores, np.float32)[:, None]


def test_yes_and_no_are_counted_apart(tmp_path: Path) -> None:
    made = case(tmp_path, [column(0.9, 0.8, 0.1, 0.2, 0.3), column(0.7, 0.4)], decision=BINARY)
    found = decisions(made, column(0.6, 0.4, 0.1, 0.2, 0.3), column(0.7, 0.4))
    positive, negative = found["positive_agreement"], found["negative_agreement"]
    assert positive.value == pytest.approx(2 / 3)
    assert (positive.flips, positive.n) == (1, 3)
    assert (negative.value, negative.flips, negative.n) == (1.0, 0, 4)
    assert (negative.low, negative.high) == pytest.approx(wilson(4, 4))


def test_a_target_that_always_says_no_has_lost_every_yes_however_rare(tmp_path: Path) -> None:
    made = case(tmp_path, [column(*[0.1] * 99, 0.9)], decision=BINARY)
    found = decisions(made, column(*[0.1] * 100))
    assert found["positive_agreement"].value == 0.0
    assert found["negative_agreement"].value == 1.0


def test_logits_have_their_threshold_at_zero(tmp_path: Path) -> None:
    made = case(tmp_path, [column(-3.0, 0.2, 4.0)], decision=BINARY)
    found = decisions(made, column(-1.0, 0.4, -0.1))
    assert (found["positive_agreement"].value, found["positive_agreement"].n) == (0.5, 2)
    assert found["negative_agreement"].value == 1.0


def test_a_change_within_the_floor_of_the_threshold_is_a_tie(tmp_path: Path) -> None:
    exact = np.asarray([[0.5 + 1e-5], [0.9]])
    eager = exact.astype(np.float32)
    eager[1, 0] += np.float32(1e-3)
    made = case(tmp_path, [eager], [exact], decision=BINARY)
    found = decisions(made, column(0.49999, 0.9))["positive_agreement"]
    assert (found.value, found.flips, found.ties) == (1.0, 0, 1)


def test_an_answer_that_eager_never_gives_has_no_interval(tmp_path: Path) -> None:
    made = case(tmp_path, [column(0.1, 0.2)], decision=BINARY)
    found = decisions(made, column(0.1, 0.2))["positive_agreement"]
    assert (found.n, found.low, found.high) == (0, None, None)


@pytest.mark.parametrize("labels", [np.array([1, 0, 1, 0]), np.array([[1], [0], [1], [0]])])
def test_labels_tell_how_often_both_are_right(tmp_path: Path, labels: Array) -> None:
    made = case(tmp_path, [column(0.9, 0.8, 0.7, 0.1)], decision=BINARY)
    found = decisions(made, column(0.9, 0.2, 0.3, 0.1), labels=labels)
    assert (found["accuracy"].value, found["accuracy"].reference) == (0.75, 0.75)
    assert (found["accuracy_difference"].value, found["accuracy_difference"].flips) == (0.0, 2)


def test_every_score_of_a_named_output_is_a_decision(tmp_path: Path) -> None:
    eager = np.asarray([[-1.0, 2.0, 3.0], [1.0, -2.0, -3.0]], np.float32)
    found = decisions(case(tmp_path, [eager], decision=BINARY), -eager)
    assert (found["positive_agreement"].n, found["positive_agreement"].value) == (3, 0.0)
    assert (found["negative_agreement"].n, found["negative_agreement"].value) == (3, 0.0)
