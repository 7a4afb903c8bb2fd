from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from parity.compare.decisions import compare_decisions
from parity.records import DecisionFinding
from tests.compare.cases import Case, store
from tests.compare.detected import detector, found, narrow, shuffled, without

EXACT = [found(40), found(25, seed=1), found(30, seed=2)]


@pytest.fixture
def made(tmp_path: Path) -> Case:
    return detector(tmp_path, EXACT)


def decisions(made: Case, *target: dict[str, Array]) -> dict[str, DecisionFinding]:
    outputs = store(made.folder, {f"h{number}": each for number, each in enumerate(target)})
    found = compare_decisions(outputs, made.arrays, made.yardsticks, made.calls, None)
    assert {each.output for each in found} == {"boxes"}
    return {each.metric: each for each in found}


def healthy() -> list[dict[str, Array]]:
    return [shuffled(narrow(each, seed=seed), seed) for seed, each in enumerate(EXACT)]


def test_healthy_detections_agree_in_any_order(made: Case) -> None:
    result = decisions(made, *healthy())
    agreement = result["detection_agreement"]
    assert (agreement.value, agreement.flips, agreement.ties, agreement.n) == (1.0, 0, 0, 95)
    assert result["box_iou"].value == pytest.approx(1)
    assert result["score_difference"].value < 1e-6


def test_a_box_that_a_quantized_target_moves_a_little_is_found_and_overlaps_less(made: Case) -> None:
    target = healthy()
    for each in target:
        each["boxes"] = each["boxes"] + np.float32(1.5)
    result = decisions(made, *target)
    assert result["detection_agreement"].flips == 0
    assert 0.7 < result["box_iou"].value < 0.95
    low, high = result["box_iou"].low, result["box_iou"].high
    assert low is not None
    assert high is not None
    assert low <= result["box_iou"].value <= high


def test_a_box_that_is_moved_away_is_lost_and_another_is_new(made: Case) -> None:
    target = healthy()
    target[0]["boxes"][3] += np.float32(20)
    result = decisions(made, *target)["detection_agreement"]
    assert (result.flips, result.n) == (2, 96)
    assert result.value == pytest.approx(94 / 96)


def test_a_box_that_is_dropped_is_a_flip(made: Case) -> None:
    target = healthy()
    best = int(np.argmax(target[1]["scores"]))
    target[1] = without(target[1], best)
    result = decisions(made, *target)["detection_agreement"]
    assert (result.flips, result.ties, result.n) == (1, 0, 95)


def test_a_tie_agrees_and_does_not_count_as_an_overlap(tmp_path: Path) -> None:
    chosen = {name: each.copy() for name, each in EXACT[0].items()}
    chosen["boxes"][7] += 9.0
    made = detector(tmp_path, [chosen, EXACT[1]], [narrow(EXACT[0]), narrow(EXACT[1])])
    result = decisions(made, narrow(chosen), narrow(EXACT[1]))
    assert (result["detection_agreement"].flips, result["detection_agreement"].ties) == (0, 2)
    assert result["box_iou"].value == pytest.approx(1)


def test_the_images_of_a_batch_are_counted_together(tmp_path: Path) -> None:
    def listed(sets: list[dict[str, Array]]) -> dict[str, Array]:
        return {f"output_{at}.{name}": each for at, one in enumerate(sets) for name, each in one.items()}

    made = detector(tmp_path, [listed(EXACT)])
    outputs = store(made.folder, {"h0": listed(healthy())})
    result = compare_decisions(outputs, made.arrays, made.yardsticks, made.calls, None)
    agreement = next(each for each in result if each.metric == "detection_agreement")
    assert (agreement.output, agreement.n, agreement.flips) == ("output_*.boxes", 95, 0)


def test_images_without_any_box_are_no_evidence(tmp_path: Path) -> None:
    empty = {name: each[:0] for name, each in EXACT[0].items()}
    made = detector(tmp_path, [EXACT[0], empty])
    assert decisions(made, narrow(EXACT[0]), narrow(empty))["detection_agreement"].n == 40
    nothing = detector(tmp_path, [empty])
    target = store(tmp_path, {"h0": narrow(empty)})
    assert compare_decisions(target, nothing.arrays, nothing.yardsticks, nothing.calls, None) == ()
