"""Detections are compared as sets: numbers of the boxes that both sides have, and which of them one side lacks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from parity.compare.matching import Detections, match_near, match_overlap
from parity.compare.sets import set_groups
from parity.records import NumericFinding, OutputFacts
from tests.compare.cases import Case
from tests.compare.detected import detector, found, narrow, shuffled, without

EXACT = found(40)


@pytest.fixture
def made(tmp_path: Path) -> Case:
    return detector(tmp_path, [EXACT, found(25, seed=1)])


def compared(made: Case, *target: dict[str, Array]) -> dict[str, NumericFinding]:
    findings = made.findings({f"h{number}": each for number, each in enumerate(target)})
    return {each.output: each for each in findings}


def healthy() -> list[dict[str, Array]]:
    return [narrow(EXACT, seed=7), narrow(found(25, seed=1), seed=8)]


def facts(name: str, shape: tuple[int, ...], dtype: str = "float32", *, batched: bool = False) -> OutputFacts:
    return OutputFacts(name=name, dtype=dtype, shape=shape, batched=batched)


def test_outputs_are_a_set_by_their_names() -> None:
    outputs = [
        facts("output_0.boxes", (7, 4)), facts("output_0.labels", (7,), "int64"), facts("output_0.scores", (7,)),
        facts("output_0.masks", (7, 1, 5, 5)), facts("output_1.boxes", (3, 4)), facts("output_1.scores", (3,)),
        facts("features", (7, 9)),
    ]  # fmt: skip
    one, other = set_groups(outputs)
    assert (one.boxes, one.scores, one.labels, one.flat) == (
        "output_0.boxes",
        "output_0.scores",
        "output_0.labels",
        True,
    )
    assert set(one.members) == {"output_0.boxes", "output_0.labels", "output_0.scores", "output_0.masks"}
    assert (other.scores, other.labels) == ("output_1.scores", None)


def test_a_tuple_is_a_set_where_its_shapes_can_be_nothing_else() -> None:
    tuples = [facts("output_0", (7, 4)), facts("output_1", (7,)), facts("output_2", (7,), "int64")]
    (flat,) = set_groups(tuples)
    assert (flat.boxes, flat.scores, flat.labels) == ("output_0", "output_1", "output_2")
    (batched,) = set_groups([facts("a", (2, 9, 4), batched=True), facts("b", (2, 9)), facts("c", (2, 9), "int32")])
    assert not batched.flat
    assert set_groups(tuples[:2]) == ()
    assert set_groups([facts("output_0", (8, 4), batched=True), *(facts(n, (8,), d, batched=True) for n, d in
                       (("output_1", "float32"), ("output_2", "int64")))]) == ()  # fmt: skip


def test_boxes_alone_are_numbers() -> None:
    assert set_groups([facts("boxes", (7, 4)), facts("logits", (7, 9))]) == ()


def test_the_order_of_healthy_detections_does_not_matter(made: Case) -> None:
    plain = compared(made, *healthy())
    turned = compared(made, *(shuffled(each, seed) for seed, each in enumerate(healthy())))
    assert turned == plain
    for name in ("boxes", "scores"):
        assert plain[name].rule == "matched"
        assert (plain[name].ratio or np.inf) < 10
    assert (plain["boxes"].mismatched, plain["boxes"].ties) == (0, None)
    assert (plain["labels"].rule, plain["labels"].mismatched) == ("exact", 0)


def test_the_floor_is_measured_on_matched_boxes(tmp_path: Path) -> None:
    plain = detector(tmp_path, [EXACT])
    turned = detector(tmp_path, [EXACT], [shuffled(narrow(EXACT))])
    assert turned.yardsticks["boxes"].floors == plain.yardsticks["boxes"].floors
    assert plain.yardsticks["boxes"].floors[0] < 1e-6


@pytest.mark.parametrize("distance", [0.01, 0.5])
def test_a_box_that_is_moved_is_held_against_the_floor(made: Case, distance: float) -> None:
    target = healthy()
    target[0]["boxes"][11] += np.float32(distance)
    result = compared(made, *(shuffled(each) for each in target))["boxes"]
    assert result.ratio is not None
    assert result.ratio > 10
    assert (result.mismatched, result.worst_sample) == (0, 0)


def test_a_score_that_is_off_is_held_against_the_floor(made: Case) -> None:
    target = healthy()
    target[1]["scores"][3] *= np.float32(1.01)
    result = compared(made, *(shuffled(each) for each in target))["scores"]
    assert result.ratio is not None
    assert result.ratio > 10


def test_a_box_that_is_somewhere_else_is_on_one_side_only_on_both_sides(made: Case) -> None:
    target = healthy()
    target[0]["boxes"][11] += np.float32(15)
    result = compared(made, *target)["boxes"]
    assert result.mismatched == 2
    assert result.detail == "2 of 66 boxes are on one side only, with a score of 0.731 at most"


@pytest.mark.parametrize("place", [0, 20])
def test_a_box_that_is_dropped_is_missing_though_the_count_may_differ(made: Case, place: int) -> None:
    target = healthy()
    target[0] = without(target[0], place)
    result = compared(made, *target)["boxes"]
    assert (result.rule, result.mismatched, result.worst_sample) == ("matched", 1, 0)


def test_another_label_is_another_box(made: Case) -> None:
    target = healthy()
    target[0]["labels"] = target[0]["labels"].copy()
    target[0]["labels"][5] += 1
    assert compared(made, *target)["boxes"].mismatched == 2


def test_a_box_at_the_threshold_may_be_there_or_not(tmp_path: Path) -> None:
    exact = [found(40), found(25, seed=1)]
    exact[0]["scores"][39] = exact[1]["scores"].min() + 1e-8
    made = detector(tmp_path, exact)
    target = [narrow(each, seed=9) for each in exact]
    assert compared(made, without(target[0], 39), target[1])["boxes"].ties == 1
    assert compared(made, without(target[0], 38), target[1])["boxes"].mismatched == 1


def test_the_last_of_as_many_boxes_as_are_kept_may_be_another(tmp_path: Path) -> None:
    exact = found(21)
    exact["scores"][19:] = [0.3, 0.3 - 1e-8]
    low = found(8, seed=1)
    low["scores"] = np.linspace(0.65, 0.05, 8)
    kept, other = without(exact, 20), without(exact, 19)
    made = detector(tmp_path, [kept, low])
    result = compared(made, narrow(other), narrow(low))["boxes"]
    assert (result.mismatched, result.ties) == (0, 2)


def test_a_box_that_the_oracle_or_a_jittered_copy_has_otherwise_is_a_tie(tmp_path: Path) -> None:
    exact = found(40)
    chosen = {name: each.copy() for name, each in exact.items()}
    chosen["boxes"][7] += 9.0
    eager, other = narrow(exact), narrow(chosen)
    by_oracle = detector(tmp_path, [chosen, exact], [eager, eager])
    assert compared(by_oracle, other, eager)["boxes"].mismatched == 0
    by_copy = detector(tmp_path, [exact, exact], [eager, eager], {"h0~0": other})
    assert compared(by_copy, other, eager)["boxes"].mismatched == 0
    assert compared(by_copy, eager, other)["boxes"].mismatched == 2


def test_where_rounding_decides_most_boxes_that_is_said(tmp_path: Path) -> None:
    exact = found(12)
    exact["scores"] = np.full(12, 0.5)
    made = detector(tmp_path, [exact])
    other = {name: each.copy() for name, each in exact.items()}
    other["boxes"] = other["boxes"] + np.where(np.arange(12) < 11, 9.0, 0.0)[:, None]
    result = compared(made, narrow(other))["boxes"]
    assert result.mismatched == 0
    assert result.detail == "rounding decides which 22 of 23 boxes there are"


def test_sets_of_a_batch_are_matched_sample_by_sample(tmp_path: Path) -> None:
    sets = [found(10, seed) for seed in range(3)]
    exact = {name: np.stack([each[name] for each in sets]) for name in sets[0]}
    made = detector(tmp_path, [exact])
    mixed = [shuffled(narrow(each), seed) for seed, each in enumerate(sets)]
    target = {name: np.stack([each[name] for each in mixed]) for name in sets[0]}
    result = compared(made, target)
    assert result["boxes"].mismatched == 0
    assert (result["boxes"].ratio or np.inf) < 10
    swapped = {name: each[[1, 0, 2]] for name, each in target.items()}
    assert compared(made, swapped)["boxes"].mismatched


def test_what_is_beside_the_boxes_goes_with_them(tmp_path: Path) -> None:
    exact = {**EXACT, "masks": np.random.default_rng(0).standard_normal((40, 1, 3, 3))}
    made = detector(tmp_path, [exact])
    target = narrow(exact, seed=5)
    result = compared(made, shuffled(target))["masks"]
    assert result.ratio is not None
    assert result.ratio < 10
    target["masks"] = target["masks"][::-1]
    assert (compared(made, shuffled(target))["masks"].ratio or 0) > 1000


def test_no_boxes_on_either_side_agree(tmp_path: Path) -> None:
    empty = {name: each[:0] for name, each in EXACT.items()}
    made = detector(tmp_path, [EXACT, empty])
    assert compared(made, narrow(EXACT), narrow(empty))["boxes"].mismatched == 0
    assert compared(made, narrow(EXACT), narrow(without(found(2), 1)))["boxes"].mismatched == 1


def test_a_set_without_its_labels_is_a_missing_output(made: Case) -> None:
    target = [{name: each for name, each in one.items() if name != "labels"} for one in healthy()]
    assert compared(made, *target)["labels"].rule == "missing"


def test_the_assignment_is_the_one_with_the_largest_overlap_of_equal_labels() -> None:
    boxes = np.asarray([[0.0, 0, 10, 10], [1, 0, 11, 10], [50, 50, 60, 60]])
    one = Detections(boxes, np.asarray([0.9, 0.8, 0.7]), np.asarray([1, 1, 2]))
    turned = one.at(np.asarray([1, 2, 0]))
    rows, columns = match_overlap(one, turned, 0.5)
    assert dict(zip(rows.tolist(), columns.tolist(), strict=True)) == {0: 2, 1: 0, 2: 1}
    assert [len(each) for each in match_overlap(one, Detections(boxes, one.scores, one.labels + 5), 0.5)] == [0, 0]


def test_boxes_with_nan_are_no_box_at_all() -> None:
    boxes = np.asarray([[0.0, 0, 10, 10], [np.nan, 0, 11, 10]])
    one = Detections(boxes, np.asarray([0.9, 0.8]), np.asarray([1, 1]))
    for rows, _ in (match_near(one, one, 1e-4), match_overlap(one, one, 0.5)):
        assert rows.tolist() == [0]


def test_more_boxes_than_a_table_holds_are_matched_where_they_stand() -> None:
    count = 5000
    corner = np.random.default_rng(0).uniform(0, 1e4, (count, 2))
    one = Detections(np.concatenate([corner, corner + 9], axis=1), np.linspace(1, 0, count), np.zeros(count, int))
    rows, columns = match_near(one, one, 1e-4)
    assert (rows == columns).all()
    assert len(rows) == count
