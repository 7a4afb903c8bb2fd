from __future__ import annotations

import dataclasses
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from parity.compare.structure import SINGLE, flatten, to_arrays


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclasses.dataclass
class Out:
    logits: Any
    extra: Any = None


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
