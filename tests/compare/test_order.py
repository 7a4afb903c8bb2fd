"""Right values under the wrong names are called what they are; wrong values are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from parity.gates.numeric import judge_numeric
from parity.models.spec import Limits
from parity.records import NumericFinding, Verdict

from .cases import several

RNG = np.random.default_rng(4)


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def noisy(array: Array, share: float) -> Array:
    return array + (RNG.standard_normal(array.shape) * share).astype(np.float32)


A, B, C = normal(6, 4), normal(6, 4), normal(6, 4)
KINDS, OTHERS = RNG.integers(0, 9, (6, 4)), RNG.integers(0, 9, (6, 4))


def found(folder: Path, reference: dict[str, Array], target: dict[str, Array]) -> dict[str, NumericFinding]:
    made = several(folder, reference)
    return {finding.output: finding for finding in made.findings({"h0": target})}


def test_two_outputs_in_each_others_place_are_named(tmp_path: Path) -> None:
    swapped = found(tmp_path, {"y": A, "z": B, "w": C}, {"y": B, "z": A, "w": C})
    assert [each.rule for each in swapped.values()] == ["order", "order", "floor"]
    result = judge_numeric(swapped["y"], Limits(), "float")
    said = "y: order: it holds what z should, and z what y should: they look swapped"
    assert (result.verdict, result.message) == (Verdict.FAIL, said)
    assert result.ratio is not None
    assert judge_numeric(swapped["w"], Limits(), "float").verdict is Verdict.PASS


def test_three_outputs_in_a_circle_are_named(tmp_path: Path) -> None:
    turned = found(tmp_path, {"y": A, "z": B, "w": C}, {"y": B, "z": C, "w": A})
    assert {name: each.detail for name, each in turned.items()} == {
        "y": "it holds what z should", "z": "it holds what w should", "w": "it holds what y should"
    }  # fmt: skip


def test_integers_and_outputs_of_other_shapes_can_be_swapped_too(tmp_path: Path) -> None:
    whole = found(tmp_path, {"y": KINDS, "z": OTHERS}, {"y": OTHERS, "z": KINDS})
    assert {each.rule for each in whole.values()} == {"order"}
    other = normal(6, 7)
    shapes = found(tmp_path, {"y": A, "z": other}, {"y": other, "z": A})
    assert {each.rule for each in shapes.values()} == {"order"}


def test_a_quantized_target_with_swapped_outputs_is_seen_through_its_noise(tmp_path: Path) -> None:
    swapped = found(tmp_path, {"y": A, "z": B}, {"y": noisy(B, 0.03), "z": noisy(A, 0.03)})
    assert {each.rule for each in swapped.values()} == {"order"}
    assert judge_numeric(swapped["y"], Limits(), "int8").verdict is Verdict.FAIL
    healthy = found(tmp_path, {"y": A, "z": B}, {"y": noisy(A, 0.03), "z": noisy(B, 0.03)})
    assert {each.rule for each in healthy.values()} == {"floor"}


@pytest.mark.parametrize(
    "target",
    [
        {"y": A, "z": B},
        {"y": B, "z": B},
        {"y": A * np.float32(1.5), "z": B * np.float32(1.5)},
        {"y": normal(6, 4), "z": normal(6, 4)},
        {"y": B, "z": normal(6, 4)},
    ],
    ids=["healthy", "one twice", "scaled", "unrelated", "one of two"],
)
def test_what_is_not_exchanged_is_not_called_so(tmp_path: Path, target: dict[str, Array]) -> None:
    assert {each.rule for each in found(tmp_path, {"y": A, "z": B}, target).values()} == {"floor"}


def test_outputs_that_are_alike_are_told_apart_only_where_that_can_be_told(tmp_path: Path) -> None:
    near = A * np.float32(1.001)
    assert {each.rule for each in found(tmp_path, {"y": A, "z": near}, {"y": near, "z": A}).values()} == {"order"}
    same = found(tmp_path, {"y": A, "z": A.copy()}, {"y": A, "z": A.copy()})
    assert {each.rule for each in same.values()} == {"floor"}


def test_shapes_that_fit_each_other_with_other_values_stay_shapes(tmp_path: Path) -> None:
    other = normal(6, 7)
    wrong = found(tmp_path, {"y": A, "z": other}, {"y": normal(6, 7), "z": normal(6, 4)})
    assert {each.rule for each in wrong.values()} == {"shape"}
