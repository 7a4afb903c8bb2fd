"""What every kind has in common, and classes: top-1, top-5, accuracy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from parity.compare.decisions.statistics import wilson
from tests.compare.cases import case
from tests.compare.decisions.found import decisions


def scores(*winners: int, classes: int = 3, margin: float = 1.0) -> Array:
    made = np.zeros((len(winners), classes), np.float32)
    made[np.arange(len(winners)), winners] = margin
    return made


def test_equal_decisions_agree_whatever_the_scores(tmp_path: Path) -> None:
    made = case(tmp_path, [scores(0, 1, 2), scores(1, 1)])
    found = decisions(made, scores(0, 1, 2, margin=9), scores(1, 1, margin=0.1))["top1_agreement"]
    assert (found.value, found.flips, found.ties, found.n) == (1.0, 0, 0, 5)
    assert (found.low, found.high) == pytest.approx(wilson(5, 5))


def test_a_changed_decision_is_a_flip(tmp_path: Path) -> None:
    made = case(tmp_path, [scores(0, 1, 2, 0)])
    found = decisions(made, scores(0, 1, 1, 0))["top1_agreement"]
    assert (found.value, found.flips, found.ties) == (0.75, 1, 0)
    assert (found.low, found.high) == pytest.approx(wilson(3, 4))


def test_a_change_between_scores_closer_than_the_floor_is_a_tie_and_agrees(tmp_path: Path) -> None:
    exact = np.asarray([[1.0, 1.0 + 1e-5, 0.0], [0.0, 3.0, 1.0]])
    eager = exact.astype(np.float32)
    eager[1, 1] += np.float32(1e-3)
    made = case(tmp_path, [eager], [exact])
    target = eager.copy()
    target[0] = [1.0 + 2e-5, 1.0, 0.0]
    found = decisions(made, target)["top1_agreement"]
    assert (found.value, found.flips, found.ties) == (1.0, 0, 1)


@pytest.mark.parametrize(
    ("shape", "axis", "metric"), [((4, 5, 6, 6), 1, "pixel_agreement"), ((4, 7, 5), 2, "token_agreement")]
)
def test_every_pixel_and_every_token_is_a_decision(
    tmp_path: Path, shape: tuple[int, ...], axis: int, metric: str
) -> None:
    rng = np.random.default_rng(0)
    eager = rng.standard_normal(shape).astype(np.float32)
    target = eager.copy()
    target[1] = -target[1]
    found = decisions(case(tmp_path, [eager]), target)[metric]
    count = eager.size // shape[axis]
    changed = int((np.argmax(eager, axis) != np.argmax(target, axis)).sum())
    assert found.n == count
    assert found.flips == changed
    assert found.value == pytest.approx(1 - changed / count)


def test_decisions_within_one_sample_count_for_less_where_they_err_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    eager = rng.standard_normal((20, 3, 10, 10)).astype(np.float32)
    together, scattered = eager.copy(), eager.copy()
    together[0] = np.roll(together[0], 1, axis=0)
    pixels = rng.choice(2000, 100, replace=False)
    flat = scattered.transpose(0, 2, 3, 1).reshape(-1, 3)
    flat[pixels] = np.roll(flat[pixels], 1, axis=1)
    scattered = flat.reshape(20, 10, 10, 3).transpose(0, 3, 1, 2)
    made = case(tmp_path, [eager])
    clustered, spread = (decisions(made, each)["pixel_agreement"] for each in (together, scattered))
    assert clustered.value == spread.value == 0.95
    assert (clustered.low, clustered.high) == pytest.approx(wilson(19, 20))
    assert spread.low is not None
    assert spread.low > 0.93


def test_accuracy_is_counted_for_target_and_reference(tmp_path: Path) -> None:
    made = case(tmp_path, [scores(0, 1, 2), scores(0)])
    found = decisions(made, scores(0, 1, 1), scores(0), labels=np.asarray([0, 1, 2, 1]))["accuracy"]
    assert (found.value, found.reference, found.n) == (0.5, 0.75, 4)


def test_labels_belong_to_samples_and_not_to_pixels(tmp_path: Path) -> None:
    eager = np.random.default_rng(0).standard_normal((4, 3, 2, 2)).astype(np.float32)
    assert set(decisions(case(tmp_path, [eager]), eager, labels=np.zeros(4, int))) == {"pixel_agreement", "mean_iou"}


def test_where_shapes_differ_there_is_no_decision_to_compare(tmp_path: Path) -> None:
    made = case(tmp_path, [scores(0, 1, 2)])
    assert decisions(made, scores(0, 1, 2, classes=4)) == {}
    assert decisions(made) == {}


def test_a_constant_reference_decides_nothing(tmp_path: Path) -> None:
    made = case(tmp_path, [scores(1, 1, 1)])
    assert decisions(made, scores(1, 1, 1)) == {}


def test_five_classes_in_another_order_are_the_same_five(tmp_path: Path) -> None:
    eager = np.random.default_rng(0).standard_normal((6, 9)).astype(np.float32)
    target = eager.copy()
    for row in target:
        best = np.argsort(row)[-5:]
        row[best] = row[best[::-1]]
    found = decisions(case(tmp_path, [eager]), target)
    assert found["top1_agreement"].flips == 6
    assert (found["top5_agreement"].value, found["top5_agreement"].flips) == (1.0, 0)


def test_a_class_that_enters_the_five_is_a_flip_and_one_as_good_as_the_fifth_is_a_tie(tmp_path: Path) -> None:
    exact = np.tile(np.asarray([8.0, 7, 6, 5, 4, 4 - 1e-6, 1, 0]), (3, 1)) + np.arange(3)[:, None] * 1e-3
    made = case(tmp_path, [exact.astype(np.float32)], [exact])
    target = exact.astype(np.float32)
    target[0, [4, 5]] = target[0, [5, 4]]
    target[1, [4, 6]] = target[1, [6, 4]]
    found = decisions(made, target)["top5_agreement"]
    assert (found.flips, found.ties, found.n) == (1, 1, 3)


def test_five_classes_or_fewer_have_no_top_five(tmp_path: Path) -> None:
    made = case(tmp_path, [scores(0, 1, 2, classes=5)])
    assert "top5_agreement" not in decisions(made, scores(0, 1, 2, classes=5))


def test_the_accuracy_that_is_lost_is_a_paired_difference(tmp_path: Path) -> None:
    right = [0, 1, 2] * 40
    made = case(tmp_path, [scores(*right)])
    worse = scores(*[(each + 1) % 3 if at < 12 else each for at, each in enumerate(right)])
    lost = decisions(made, worse, labels=np.asarray(right))["accuracy_difference"]
    same = decisions(made, scores(*right), labels=np.asarray(right))["accuracy_difference"]
    assert lost.value == pytest.approx(-0.1)
    assert (lost.reference, lost.flips, lost.n) == (1.0, 12, 120)
    assert lost.high is not None
    assert lost.high < -0.04
    assert (same.value, same.flips) == (0.0, 0)


def test_a_class_that_the_model_chose_itself_is_a_decision_as_it_is(tmp_path: Path) -> None:
    made = case(tmp_path, [np.asarray([3, 1, 4, 1, 5])], copies=[(np.asarray([3, 1, 4, 2, 5]), np.zeros(5, int))])
    found = decisions(made, np.asarray([3, 2, 4, 2, 5]))["top1_agreement"]
    assert (found.flips, found.ties, found.n) == (1, 1, 5)
