"""The floor is a property of the reference: no target moves it, and luck does not set it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.compare.errors import MEASURES
from parity.compare.floor import UNIT_ROUNDOFF, Yardstick
from tests.compare.cases import case, rounded


def yardstick(folder: Path, *arguments: object, **options: object) -> Yardstick:
    return case(folder, *arguments, **options).yardsticks["y"]  # type: ignore[arg-type]  # passed on as they come


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_a_reference_without_error_has_a_floor_of_one_rounding(tmp_path: Path, dtype: str) -> None:
    exact = np.random.default_rng(0).standard_normal((4, 9)).astype(dtype)
    assert yardstick(tmp_path, [exact]).floors == (UNIT_ROUNDOFF[dtype],) * len(MEASURES)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_unit_of_roundoff_is_half_the_step_after_one(dtype: str) -> None:
    assert UNIT_ROUNDOFF[dtype] == np.finfo(dtype).eps / 2


def test_the_floor_is_the_worst_error_of_the_reference_over_all_samples(tmp_path: Path) -> None:
    exact = np.ones((4, 5))
    eager = exact.astype(np.float32)
    eager[2, 3] += np.float32(1e-3)
    floors = yardstick(tmp_path, [eager[:2], eager[2:]], [exact[:2], exact[2:]]).floors
    np.testing.assert_allclose(floors, [1e-3 / np.sqrt(5), 1e-3, 1e-3 / np.sqrt(5), 1e-3], rtol=1e-3)


def test_scales_are_pooled_over_all_held_out_calls(tmp_path: Path) -> None:
    found = yardstick(tmp_path, [np.full((1, 2), 3.0, np.float32), np.full((1, 2), 4.0, np.float32)])
    np.testing.assert_allclose([found.scale_rms, found.scale_peak], [np.sqrt((9 + 16) / 2), 4])


def test_jittered_copies_raise_a_floor_that_was_low_by_luck(tmp_path: Path) -> None:
    exact = np.asarray([[1.0], [2.0]])
    eager = exact.astype(np.float32)
    lucky = yardstick(tmp_path, [eager], [exact])
    drawn = yardstick(tmp_path, [eager], [exact], copies=[(eager + np.float32(1e-4), exact), (eager, exact)])
    assert max(lucky.floors) == UNIT_ROUNDOFF["float32"]
    assert min(drawn.floors) > 1e-5


def test_a_copy_that_is_not_finite_does_not_set_the_floor(tmp_path: Path) -> None:
    exact = np.asarray([[1.0], [2.0]])
    eager = exact.astype(np.float32)
    found = yardstick(tmp_path, [eager], [exact], copies=[(np.full((2, 1), np.nan, np.float32), exact)])
    assert max(found.floors) == UNIT_ROUNDOFF["float32"]


def test_the_sweep_takes_no_part_in_the_floor(tmp_path: Path) -> None:
    exact = np.random.default_rng(0).standard_normal((4, 3))
    eager = exact.astype(np.float32)
    wild = (np.full((1, 3), 100.0, np.float32), np.zeros((1, 3)))
    assert yardstick(tmp_path, [eager], [exact], sweep={1: wild}) == yardstick(tmp_path, [eager], [exact])


def test_the_scale_of_the_output_changes_no_floor(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    exact = rng.standard_normal((6, 20))
    eager = rounded(exact, "float32", rng)
    plain = yardstick(tmp_path, [eager], [exact]).floors
    for power in (-60, 40):
        scaled = yardstick(tmp_path, [eager * np.float32(2.0**power)], [exact * 2.0**power])
        np.testing.assert_allclose(scaled.floors, plain)


def test_the_allowance_grows_with_the_root_of_the_longest_sum(tmp_path: Path) -> None:
    eager = np.ones((2, 2), np.float32)
    assert yardstick(tmp_path, [eager], longest=10_000).allowance == 100 * UNIT_ROUNDOFF["float32"]
    assert yardstick(tmp_path, [eager.astype(np.float16)], longest=4).allowance == 2 * UNIT_ROUNDOFF["float16"]


@pytest.mark.parametrize(("oracle", "rule"), [("float64", "floor"), ("reordering", "reordering")])
def test_the_rule_says_what_the_floor_was_measured_with(tmp_path: Path, oracle: str, rule: str) -> None:
    assert yardstick(tmp_path, [np.ones((2, 2), np.float32)], oracle=oracle).rule == rule


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_numbers_that_are_not_rounded_have_no_floor(tmp_path: Path, dtype: str) -> None:
    found = yardstick(tmp_path, [np.asarray([[0], [1]], dtype)])
    assert (found.rule, found.floors, found.absolute) == ("exact", (), 0.0)


def test_the_floor_as_a_difference_is_relative_to_the_largest_magnitude(tmp_path: Path) -> None:
    exact = np.asarray([[8.0], [1.0]])
    eager = np.add(exact, [[0.004], [0.0]]).astype(np.float32)
    np.testing.assert_allclose(yardstick(tmp_path, [eager], [exact]).absolute, 0.004, rtol=1e-3)


NAN = np.asarray([[np.nan, 1.0]], np.float32)


@pytest.mark.parametrize(
    ("eager", "constant"),
    [
        ([np.zeros((3, 2), np.float32)], True),
        ([np.ones((2, 2), np.float32), np.ones((1, 2), np.float32)], True),
        ([np.asarray([[1.0], [1.0 + 2**-22]], np.float32)], True),
        ([np.asarray([[1.0], [1.001]], np.float32)], False),
        ([np.asarray([[1.0], [2.0]], np.float32)], False),
        ([np.ones((1, 2), np.float32)], False),
        ([np.zeros((1, 2), np.float32)], True),
        ([np.concatenate([NAN, NAN])], True),
        ([np.ones((2, 3), np.float32), np.ones((2, 4), np.float32)], False),
        ([np.ones((3, 1), np.int64)], True),
        ([np.asarray([[1], [2]])], False),
        ([np.ones((3, 0), np.float32)], True),
    ],
    ids=["zeros", "ones", "within rounding", "small change", "varied", "one sample", "one sample of zeros",
         "nan at one place", "two shapes", "equal integers", "varied integers", "empty"],
)  # fmt: skip
def test_a_reference_that_answers_every_sample_alike_is_constant(
    tmp_path: Path, eager: list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]], *, constant: bool
) -> None:
    assert yardstick(tmp_path, eager).constant is constant


def test_small_outputs_that_vary_are_not_constant(tmp_path: Path) -> None:
    eager = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32) * np.float32(1e-20)
    assert not yardstick(tmp_path, [eager]).constant


def test_without_a_batch_every_call_is_one_sample(tmp_path: Path) -> None:
    same, varied = [np.float32(1.0) * np.ones(()), np.float32(1.0) * np.ones(())], [np.ones(3), np.ones(3) * 2]
    assert yardstick(tmp_path, [each.astype(np.float32) for each in same], batched=False).constant
    assert not yardstick(tmp_path, [each.astype(np.float32) for each in varied], batched=False).constant
