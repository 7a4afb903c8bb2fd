"""Samples of other sizes are made of the content of held-out ones."""

from __future__ import annotations

import numpy as np
import pytest

from parity.arrays import Array
from parity.models.signature import parse_signature
from parity.samples.made import make_sample, nearest, symbol_sizes

SIGNATURE = parse_signature(
    ["frames: float32[N, 2, T]", "tokens: int64[N, T] in 0..9", "lengths: int64[N] in 1..T", "flag: bool[N, 3]"]
)
SAMPLE = {
    "frames": np.arange(8, dtype=np.float32).reshape(2, 4),
    "tokens": np.asarray([1, 2, 3, 12]),
    "lengths": np.asarray(3),
    "flag": np.asarray([True, False, True]),
}


def test_a_smaller_sample_is_cropped_and_a_larger_one_repeated() -> None:
    assert make_sample(SAMPLE, SIGNATURE, {"T": 2})["frames"].tolist() == [[0, 1], [4, 5]]
    assert make_sample(SAMPLE, SIGNATURE, {"T": 6})["frames"].tolist() == [[0, 1, 2, 3, 0, 1], [4, 5, 6, 7, 4, 5]]


def test_every_input_that_shares_the_symbol_follows_and_the_result_fits_the_signature() -> None:
    for size in (1, 4, 7):
        made = make_sample(SAMPLE, SIGNATURE, {"T": size})
        SIGNATURE.check(made, "here")
        assert symbol_sizes(SIGNATURE, made) == {"T": size}
        assert made["flag"].tolist() == [True, False, True]


def test_integers_stay_in_their_range_and_a_length_follows_the_size_that_bounds_it() -> None:
    assert make_sample(SAMPLE, SIGNATURE, {"T": 4})["tokens"].tolist() == [1, 2, 3, 9]
    lengths = {size: int(make_sample(SAMPLE, SIGNATURE, {"T": size})["lengths"]) for size in (1, 2, 4, 8)}
    assert lengths == {1: 1, 2: 2, 4: 3, 8: 6}


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 7, 12, 25])
@pytest.mark.parametrize("filled", [1, 2, 4, 6])
def test_masks_stay_masks_and_agree_with_the_length(size: int, filled: int) -> None:
    signature = parse_signature(
        ["mask: int64[N, T] in 0..1", "from_end_mask: float32[N, 1, T]", "key_padding_mask: bool[N, T]",
         "mask_from_end: bool[N, T]", "lengths: int64[N] in 1..T"]
    )  # fmt: skip
    mask = np.arange(6) < filled
    sample: dict[str, Array] = {
        "mask": mask.astype(np.int64), "from_end_mask": mask[None, ::-1].astype(np.float32),
        "key_padding_mask": ~mask, "mask_from_end": mask[::-1], "lengths": np.asarray(filled),
    }  # fmt: skip
    made = make_sample(sample, signature, {"T": size})
    length = int(made["lengths"])
    assert length == -(-filled * size // 6) >= 1
    expected = np.arange(size) < length
    assert made["mask"].tolist() == expected.tolist()
    assert made["key_padding_mask"].tolist() == (~expected).tolist()
    assert made["mask_from_end"].tolist() == expected[::-1].tolist()
    assert made["from_end_mask"].tolist() == [expected[::-1].tolist()]


def test_the_sample_itself_is_left_alone() -> None:
    made = make_sample(SAMPLE, SIGNATURE, {"T": 4})
    made["frames"][:] = -1
    assert SAMPLE["frames"][0, 0] == 0


def test_what_is_empty_gets_zeros_within_the_range() -> None:
    signature = parse_signature("x: int64[N, T in 0..5] in 1..3")
    assert make_sample({"x": np.zeros(0, np.int64)}, signature, {"T": 2})["x"].tolist() == [1, 1]
    assert make_sample({"x": np.ones(3, np.int64)}, signature, {"T": 0})["x"].shape == (0,)


def test_the_nearest_samples_in_size_are_taken_and_others_each_time() -> None:
    known = [({"T": 9}, [0, 4]), ({"T": 2}, [1, 2, 3])]
    assert set(nearest(known, {"T": 3}, 3, turn=0)) == {1, 2, 3}
    assert nearest(known, {"T": 20}, 1, turn=0) == [0]
    assert sorted(nearest(known, {"T": 3}, 5, turn=1)) == [0, 1, 2, 3, 4]
    assert len(nearest(known, {"T": 3}, 7, turn=0)) == 7
    assert len({nearest(known, {"T": 2}, 1, turn=turn)[0] for turn in range(20)}) == 3
