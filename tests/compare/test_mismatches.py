from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from parity.arrays import Array
from parity.compare.blocks import BLOCK
from parity.compare.mismatches import mismatches, repeats

RNG = np.random.default_rng(1)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64"])
@pytest.mark.parametrize("shape", [(5, 7), (3, BLOCK + 9), (4000, 70), (1, 2_000_000), (4, 0)], ids=str)
def test_every_number_that_differs_is_counted_with_its_sample(shape: tuple[int, ...], dtype: str) -> None:
    ours = RNG.integers(0, 2, shape).astype(dtype)
    theirs = ours.copy()
    places = RNG.integers(0, max(ours.size, 1), 9 if ours.size else 0)
    theirs.reshape(-1)[places] = 1 - ours.reshape(-1)[places]
    found = mismatches(theirs, ours, batched=True)
    assert found.rows.tolist() == (theirs != ours).reshape(len(ours), -1).sum(axis=1).tolist()
    assert found.largest == (1.0 if len(places) else 0.0)
    assert mismatches(theirs, ours, batched=False).rows.tolist() == [int((theirs != ours).sum())]
    assert not mismatches(ours, ours, batched=True).rows.any()


def test_the_largest_difference_is_as_wide_as_the_numbers() -> None:
    ours = np.asarray([[0, 255], [7, 7]], np.uint8)
    assert mismatches(ours[:, ::-1], ours, batched=True).largest == 255
    assert mismatches(np.asarray([-128], np.int8), np.asarray([127], np.int8), batched=True).largest == 255


def test_large_neighbours_that_are_one_float64_differ_by_one() -> None:
    ours = np.asarray([2**63 - 1], np.int64)
    assert mismatches(ours - 1, ours, batched=True).largest == 1


def test_an_integer_alone_is_one_sample() -> None:
    found = mismatches(np.asarray(3), np.asarray(5), batched=False)
    assert (found.rows.tolist(), found.largest) == ([1], 2.0)


def long_row(change: float) -> Array:
    row = np.ones((2, BLOCK + 5))
    row[1, -1] += change
    return row


@pytest.mark.parametrize(
    ("rows", "same"),
    [
        (np.ones((3, 4)), True),
        (np.asarray([[1.0, np.nan], [1.0, np.nan]]), True),
        (np.asarray([[1.0, np.nan], [np.nan, 1.0]]), False),
        (np.asarray([[np.inf], [np.inf]]), True),
        (np.asarray([[np.inf], [-np.inf]]), False),
        (np.asarray([[1.0], [1.0 + 1e-7]]), True),
        (np.asarray([[1.0], [1.0 + 1e-5]]), False),
        (np.asarray([[1, 2], [1, 2]]), True),
        (np.asarray([[1, 2], [1, 3]]), False),
        (np.asarray([[True], [False]]), False),
        (np.asarray([[1 + 1j], [1 - 1j]]), False),
        (np.zeros((3, 0)), True),
        (np.ones(5), True),
        (long_row(0.0), True),
        (long_row(1e-3), False),
    ],
)
def test_rows_repeat_within_the_slack_and_no_further(rows: Array, *, same: bool) -> None:
    assert repeats(rows, rows[0], 1e-6) is same


def test_rows_of_another_shape_repeat_nothing() -> None:
    assert not repeats(np.ones((2, 3)), np.ones(4), 0.0)


def test_neither_comparison_allocates_anything_of_the_size_of_the_arrays() -> None:
    same = np.zeros((2, 2_000_000), np.int64)
    tracemalloc.start()
    try:
        mismatches(same, same, batched=True)
        repeats(same.view(np.float64), same[0].view(np.float64), 1e-6)
        assert tracemalloc.get_traced_memory()[1] < same.nbytes / 4
    finally:
        tracemalloc.stop()
