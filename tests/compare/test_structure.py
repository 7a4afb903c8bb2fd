from __future__ import annotations

import dataclasses
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from parity.arrays import BFLOAT16, dtype_name
from parity.compare.structure import SINGLE, flatten, named_again, to_arrays
from parity.errors import ModelError


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclasses.dataclass
class Out:
    logits: Any
    extra: Any = None


@dataclasses.dataclass
class ModelOutput(OrderedDict[str, Any]):
    """As Hugging Face has it: a dictionary of the fields that are not None, which is a dataclass too."""

    logits: Any = None
    past: Any = None
    hidden: Any = None

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is not None:
                self[field.name] = getattr(self, field.name)


ONE, TWO = object(), object()


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        (ONE, {SINGLE: ONE}),
        ((ONE,), {"output_0": ONE}),
        ([ONE, TWO], {"output_0": ONE, "output_1": TWO}),
        ({"a": ONE, "b": {"c": TWO}}, {"a": ONE, "b.c": TWO}),
        ({"a": [ONE, {"b": TWO}]}, {"a.0": ONE, "a.1.b": TWO}),
        ({3: ONE}, {"3": ONE}),
        (Pair(ONE, (TWO,)), {"left": ONE, "right.0": TWO}),
        (Out(ONE, Out(TWO)), {"logits": ONE, "extra.logits": TWO}),
        (Out(ONE), {"logits": ONE}),
        ((None, ONE), {"output_1": ONE}),
        ((ONE, None, {"a": [], "b": {}, "c": None}, TWO), {"output_0": ONE, "output_3": TWO}),
        (Pair(None, {"a": ONE}), {"right.a": ONE}),
        (ModelOutput(logits=ONE, hidden=(ONE, TWO)), {"logits": ONE, "hidden.0": ONE, "hidden.1": TWO}),
        ({"a.b": ONE, "a": {"b": TWO}}, {"'a.b'": ONE, "a.b": TWO}),
        ({"a": {"b": TWO}, "a.b": ONE}, {"'a.b'": ONE, "a.b": TWO}),
        (None, {}),
        ([], {}),
    ],
)
def test_every_leaf_is_named_by_its_path(value: object, paths: dict[str, object]) -> None:
    assert flatten(value) == paths


def test_the_order_of_a_mapping_is_kept_and_does_not_name_anything() -> None:
    one, other = OrderedDict(a=ONE, b=TWO), OrderedDict(b=TWO, a=ONE)
    assert flatten(one) == flatten(other)
    assert list(flatten(other)) == ["b", "a"]


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (torch.tensor([1.5], requires_grad=True), np.asarray([1.5], np.float32)),
        (torch.tensor([1.5], dtype=torch.bfloat16), np.asarray([1.5], np.float32)),
        (torch.tensor([1.5], dtype=torch.float16), np.asarray([1.5], np.float16)),
        (torch.tensor([True]), np.asarray([True])),
        (torch.tensor(3), np.asarray(3)),
        (torch.tensor([1 + 2j]).conj(), np.asarray([1 - 2j], np.complex64)),
        (torch.zeros(0, 2), np.zeros((0, 2), np.float32)),
        (torch.arange(6.0).reshape(2, 3).T, np.arange(6, dtype=np.float32).reshape(2, 3).T),
        (2.5, np.asarray(2.5)),
        (np.ones(2), np.ones(2)),
    ],
)
def test_leaves_become_arrays_of_the_same_numbers(tensor: object, expected: np.ndarray[Any, Any]) -> None:
    array = to_arrays(tensor)[SINGLE]
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)


def test_two_outputs_under_one_name_are_refused_and_none_is_lost() -> None:
    with pytest.raises(ModelError, match="two outputs under one name") as caught:
        flatten({1: ONE, "1": TWO})
    assert caught.value.got == "1"


def test_bfloat16_is_held_as_float32_and_called_bfloat16() -> None:
    array = to_arrays(torch.tensor([1.5, 3e38], dtype=torch.bfloat16))[SINGLE]
    assert (array.dtype, dtype_name(array)) == (np.dtype(np.float32), "bfloat16")
    assert dtype_name(np.array(array)) == "bfloat16"
    assert dtype_name(to_arrays(torch.tensor([1.5]))[SINGLE]) == "float32"
    assert array.dtype.metadata == BFLOAT16.metadata


ARRAYS = {"output_0": np.zeros(1), "output_1.0": np.ones(1)}


def test_names_that_an_artifact_has_lost_are_found_again_by_position() -> None:
    assert named_again(ARRAYS, ("left", "right.0")) == {"left": np.zeros(1), "right.0": np.ones(1)}


@pytest.mark.parametrize(
    ("arrays", "names"),
    [
        (ARRAYS, ("left",)),
        (ARRAYS, ("output_0", "output_2")),
        (ARRAYS, ()),
        ({"logits": np.zeros(1), "boxes": np.ones(1)}, ("logits", "scores")),
        ({"logits": np.zeros(1), "output_1": np.ones(1)}, ("left", "right")),
    ],
    ids=["another number", "positions are its names", "unknown", "names of its own", "one of its own"],
)
def test_names_are_not_guessed(arrays: dict[str, Any], names: tuple[str, ...]) -> None:
    assert named_again(arrays, names) == arrays
