from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from parity.compare.decisions import embedding
from tests.compare.cases import Case, case
from tests.compare.decisions.found import decisions

GIVEN = (("y", "embedding"),)


def vectors(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def embedded(folder: Path, eager: Array) -> Case:
    return case(folder, [eager], decision=GIVEN)


def test_a_vector_of_another_length_points_the_same_way(tmp_path: Path) -> None:
    eager = vectors(40, 8)
    found = decisions(embedded(tmp_path, eager), eager * np.float32(1.5))
    assert found["cosine_mean"].value == pytest.approx(1.0)
    assert found["cosine_min"].value == pytest.approx(1.0)
    assert (found["neighbour_agreement"].value, found["neighbour_agreement"].n) == (1.0, 40)


def test_vectors_that_are_turned_lose_their_direction_and_keep_their_neighbours(tmp_path: Path) -> None:
    eager = vectors(40, 8)
    turned = eager @ np.linalg.qr(vectors(8, 8).astype(np.float64))[0].astype(np.float32)
    found = decisions(embedded(tmp_path, eager), turned)
    cosine = found["cosine_mean"]
    assert cosine.high is not None
    assert cosine.high < 0.98
    assert found["neighbour_agreement"].value == 1.0


def test_noise_changes_neighbours_before_it_changes_directions(tmp_path: Path) -> None:
    eager = vectors(200, 8)
    noise = np.random.default_rng(1).standard_normal(eager.shape).astype(np.float32)
    found = decisions(embedded(tmp_path, eager), eager + np.float32(0.1) * noise)
    assert found["cosine_mean"].value > 0.98
    assert found["neighbour_agreement"].flips
    assert found["cosine_min"].value < found["cosine_mean"].value


def test_the_nearest_neighbour_is_the_one_by_hand(tmp_path: Path) -> None:
    eager, target = vectors(30, 4), vectors(31, 4)[1:]

    def nearest(each: Array) -> list[int]:
        unit = each.astype(np.float64) / np.linalg.norm(each.astype(np.float64), axis=1, keepdims=True)
        table = unit @ unit.T
        np.fill_diagonal(table, -2)
        return [int(row.argmax()) for row in table]

    found = decisions(embedded(tmp_path, eager), target)["neighbour_agreement"]
    assert found.flips == sum(one != other for one, other in zip(nearest(eager), nearest(target), strict=True))


def test_two_neighbours_as_near_as_each_other_are_a_tie(tmp_path: Path) -> None:
    eager = np.asarray([[1, 0, 0], [1, 1, 0], [1, -1, 0], [0, 0, 1]], np.float32)
    target = eager.copy()
    target[1, 1] -= np.float32(1e-7)
    target[2, 1] -= np.float32(1e-7)
    for changed in (target, target * np.asarray([1, -1, 1], np.float32)):
        found = decisions(embedded(tmp_path, eager), changed)["neighbour_agreement"]
        assert (found.flips, found.value) == (0, 1.0)


def test_every_position_of_a_sequence_is_a_vector(tmp_path: Path) -> None:
    eager = vectors(10, 5, 6)
    target = eager.copy()
    target[2, 3] = -target[2, 3]
    found = decisions(embedded(tmp_path, eager), target)
    assert found["cosine_min"].value == pytest.approx(-1)
    assert found["cosine_mean"].value == pytest.approx(1 - 2 / 50)
    assert found["cosine_mean"].n == 10


def test_a_vector_of_zeros_points_nowhere(tmp_path: Path) -> None:
    eager = vectors(10, 5)
    eager[4] = 0
    target = eager.copy()
    assert decisions(embedded(tmp_path, eager), target)["cosine_min"].value == pytest.approx(1)
    target[4] = 1
    assert decisions(embedded(tmp_path, eager), target)["cosine_min"].value == 0


def test_memory_does_not_grow_with_the_square_of_the_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "QUERIES", 300)
    made = embedded(tmp_path, vectors(4000, 4))
    tracemalloc.start()
    found = decisions(made, vectors(4000, 4))["neighbour_agreement"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.n == 300
    assert peak < 4000 * 4000 * 8 / 3
