"""The inputs of a model are inferred from samples, and the samples fit what was inferred."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from parity.errors import SampleError
from parity.models.signature import parse_signature
from parity.samples.sources import infer_inputs, read_samples
from tests.samples import given

RNG = np.random.default_rng(5)


def saved(folder: Path, samples: Sequence[Any]) -> str:
    torch.save(
        [{name: torch.as_tensor(np.asarray(value)) for name, value in sample.items()} for sample in samples],
        folder / "x.pt",
    )
    return "x.pt"


def floats(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def integers(*shape: int) -> Any:
    return np.arange(np.prod(shape, dtype=int)).reshape(shape)


CASES: dict[str, tuple[Sequence[Any], tuple[str, ...]]] = {
    "one size": ([{"x": floats(3, 8)}] * 2, ("x: float32[N, 3, 8]",)),
    "a number": ([{"x": np.float64(1)}], ("x: float64[N]",)),
    "a dimension that differs": ([{"x": floats(3, n)} for n in (5, 9, 7)], ("x: float32[N, 3, T in 5..9]",)),
    "an image": ([{"x": floats(3, h, w)} for h, w in ((20, 64), (64, 32))],
                 ("x: float32[N, 3, H in 20..64, W in 32..64]",)),
    "an image with one free side": ([{"image": floats(3, h, 224)} for h in (20, 64)],
                                    ("image: float32[N, 3, H in 20..64, 224]",)),
    "channels last": ([{"x": floats(h, 32, 3)} for h in (20, 64)], ("x: float32[N, H in 20..64, 32, 3]",)),
    "square images": ([{"x": floats(1, n, n)} for n in (20, 64)], ("x: float32[N, 1, H in 20..64, H in 20..64]",)),
    "inputs that agree": ([{"a": integers(n), "b": integers(n) > 1} for n in (3, 37)],
                          ("a: int64[N, T in 3..37] in 0..36", "b: bool[N, T in 3..37]")),
    "inputs that agree at first": ([{"a": floats(n), "b": floats(m)} for n, m in ((3, 3), (4, 4), (4, 5))],
                                   ("a: float32[N, T in 3..4]", "b: float32[N, S in 3..5]")),
    "a mask that is full": ([{"attention_mask": np.ones(3, np.int64)}], ("attention_mask: int64[N, 3] in 0..1",)),
    "lengths of no dimension": ([{"x": floats(n), "lengths": np.asarray(n + n % 2)} for n in (4, 5)],
                                ("x: float32[N, T in 4..5]", "lengths: int64[N] in 4..6")),
    "lengths of one size": ([{"x": floats(8), "lengths": np.asarray(n)} for n in (4, 5)],
                            ("x: float32[N, 8]", "lengths: int64[N] in 4..5")),
    "lengths of the longer of two": (
        [{"a": floats(n), "b": floats(2 * n), "b_len": np.asarray(2 * n)} for n in (4, 5)],
        ("a: float32[N, T in 4..5]", "b: float32[N, S in 8..10]", "b_len: int64[N] in 1..S"),
    ),
    "negative integers": ([{"x": np.asarray([-7, 2], np.int32)}], ("x: int32[N, 2] in -7..2",)),
    "labels": ([{"x": floats(2), "label": 3}], ("x: float32[N, 2]",)),
    "complex": ([{"x": np.asarray([1j], np.complex64)}], ("x: complex64[N, 1]",)),
    "an empty sample": ([{"x": floats(n)} for n in (0, 2)], ("x: float32[N, T in 0..2]",)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_inferred_inputs_can_be_read_and_fit_the_samples(name: str, tmp_path: Path) -> None:
    samples, expected = CASES[name]
    source = saved(tmp_path, samples)
    assert infer_inputs(source, tmp_path) == expected
    assert len(list(read_samples(source, parse_signature(expected), tmp_path)[0])) == len(samples)


def test_arrays_without_names_get_the_parameters_in_order(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", floats(4, 2), integers(4, 3))
    assert infer_inputs("x.npz", tmp_path, ["image", "tokens"]) == (
        "image: float32[N, 2]", "tokens: int64[N, 3] in 0..11",
    )  # fmt: skip
    assert infer_inputs(f"{given.HERE}:two_inputs", tmp_path, ["a", "b", "scale"]) == (
        "a: float32[N, T in 3..7, 4]", "b: int64[N, T in 3..7] in 1..1",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["WITH_LABELS", "IN_ORDER", "stacked_pair", "named_pairs", "Photos", "generated"])
@pytest.mark.parametrize("names", [["x"], None, ["x", "mask"], []])
def test_labels_are_no_input(name: str, names: Sequence[str] | None, tmp_path: Path) -> None:
    assert infer_inputs(f"{given.HERE}:{name}", tmp_path, names) == ("x: float32[N, 3, 2]",)


@pytest.mark.parametrize("names", [["x"], ["x", "targets"]])
def test_what_no_input_can_be_is_none(names: Sequence[str], tmp_path: Path) -> None:
    assert infer_inputs(f"{given.HERE}:with_targets", tmp_path, names) == ("x: float32[N, 3, 2]",)


def test_an_integer_is_an_input_where_a_parameter_takes_one(tmp_path: Path) -> None:
    torch.save([(torch.zeros(n, 2), n) for n in (3, 5)], tmp_path / "x.pt")
    assert infer_inputs("x.pt", tmp_path, ["frames", "lengths"]) == (
        "frames: float32[N, T in 3..5, 2]", "lengths: int64[N] in 1..T",
    )  # fmt: skip


def test_stacked_arrays_in_a_list_are_told_from_samples_by_their_kinds(tmp_path: Path) -> None:
    alike, others = torch.zeros(4, 2), torch.zeros(4, 3, dtype=torch.int64)
    torch.save([alike, alike], tmp_path / "x.pt")
    torch.save((alike, others), tmp_path / "y.pt")
    assert infer_inputs("x.pt", tmp_path, ["a", "b"]) == ("a: float32[N, 4, 2]",)
    assert infer_inputs("y.pt", tmp_path, ["a", "b"]) == ("a: float32[N, 2]", "b: int64[N, 3] in 0..0")


def test_a_single_array_is_the_first_parameter_whatever_it_is_called(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", images=floats(4, 2), labels=integers(4))
    assert infer_inputs("x.npz", tmp_path, ["pixels"]) == ("pixels: float32[N, 2]",)


def test_of_named_arrays_the_parameters_are_taken_in_their_order(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", ids=integers(4), b=floats(4, 2), a=floats(4, 1), y=integers(4))
    assert infer_inputs("x.npz", tmp_path, ["a", "b", "c"]) == ("a: float32[N, 1]", "b: float32[N, 2]")
    np.savez(tmp_path / "x.npz", a=floats(4, 1), y=integers(4))
    assert infer_inputs("x.npz", tmp_path, ["a", "y"]) == ("a: float32[N, 1]", "y: int64[N] in 0..3")


@pytest.mark.parametrize(
    ("arrays", "names", "says"),
    [
        ({"a": floats(4), "b": floats(4)}, ["x", "z"], "none of the samples' arrays has the name of an input"),
        ({"arr_0": floats(4), "arr_1": floats(4, 2)}, ["x"], "a sample has 2 arrays, and forward takes 1"),
        ({"a": floats(4), "b": floats(3)}, None, "equally many"),
        ({"a": floats(0, 2)}, None, "not one sample"),
        ({"a": np.zeros(3, np.uint16)}, None, "no input can have this dtype"),
        ({"a b": floats(3)}, None, "no input can have this name"),
        ({"labels": integers(3)}, None, "no array but labels"),
    ],
)
def test_what_gives_no_signature_says_why(
    tmp_path: Path, arrays: dict[str, Any], names: Sequence[str] | None, says: str
) -> None:
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(SampleError) as caught:
        infer_inputs("x.npz", tmp_path, names)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"x": np.zeros(2)}, "differ in dtype or rank"),
        ({"x": floats(2, 1)}, "differ in dtype or rank"),
        ({"x": integers(2)}, "differ in dtype or rank"),
        ({"y": floats(2), "z": floats(2)}, "do not all have the same inputs"),
    ],
)
def test_samples_that_differ_in_more_than_size_are_refused(tmp_path: Path, other: Any, says: str) -> None:
    with pytest.raises(SampleError, match=says) as caught:
        infer_inputs(saved(tmp_path, [{"x": floats(2)}, other]), tmp_path)
    assert "sample 1" in str(caught.value.where)
