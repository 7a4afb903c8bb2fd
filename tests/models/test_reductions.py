"""The longest sum of a pass decides what rounding may cost, so it must be neither missed nor made up."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional

from parity.models.reductions import watch_reductions

Function = Callable[[torch.Tensor], object]


def longest(function: Function, *shape: int) -> int:
    with torch.inference_mode(), watch_reductions() as told:
        function(torch.ones(shape))
        return told()


@pytest.mark.parametrize(
    ("function", "shape", "terms"),
    [
        (lambda x: x.sum(), (4, 5), 20),
        (lambda x: x.mean(dim=1), (4, 7), 7),
        (lambda x: x.var(dim=0), (9, 2), 9),
        (lambda x: x.std(), (3, 3), 9),
        (lambda x: x.norm(), (6, 2), 12),
        (lambda x: x.logsumexp(1), (2, 8), 8),
        (lambda x: x.cumsum(1), (2, 11), 11),
        (lambda x: x.cumsum(-1), (2, 11), 11),
        (lambda x: x.softmax(-1), (2, 13), 13),
        (lambda x: x.log_softmax(1), (2, 13), 13),
        (lambda x: x @ x.T, (3, 17), 17),
        (lambda x: torch.bmm(x, x.transpose(1, 2)), (2, 3, 19), 19),
        (lambda x: torch.einsum("ij,kj->ik", x, x), (3, 23), 23),
        (nn.Linear(29, 2), (5, 29), 29),
        (nn.Conv2d(3, 4, 5), (1, 3, 8, 8), 75),
        (nn.Conv2d(4, 4, 3, groups=4), (1, 4, 8, 8), 9),
        (nn.Conv1d(2, 4, 3), (1, 2, 8), 6),
        (nn.LayerNorm(31), (2, 3, 31), 31),
        (nn.GroupNorm(2, 4), (1, 4, 5, 5), 50),
        (nn.InstanceNorm2d(3), (2, 3, 5, 5), 25),
        (nn.AdaptiveAvgPool2d(1), (1, 2, 7, 7), 49),
        (nn.AvgPool2d(3, 3), (1, 2, 9, 9), 9),
        (lambda x: functional.scaled_dot_product_attention(x, x, x), (1, 1, 64, 8), 64),
    ],
)
def test_the_terms_of_the_longest_sum(function: Function, shape: tuple[int, ...], terms: int) -> None:
    assert longest(function, *shape) == terms


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x + x, (100,)),
        (lambda x: x.max(), (100,)),
        (nn.ReLU(), (100,)),
        (nn.MaxPool2d(3), (1, 3, 9, 9)),
        (nn.BatchNorm2d(3).eval(), (2, 3, 16, 16)),
        (nn.Embedding(5, 3), ()),
        (lambda x: x.reshape(-1), (3, 4)),
    ],
    ids=["add", "max", "relu", "max pool", "batch norm in eval mode", "embedding", "reshape"],
)
def test_what_adds_nothing_up_is_no_reduction(function: Function, shape: tuple[int, ...]) -> None:
    if isinstance(function, nn.Embedding):
        with torch.inference_mode(), watch_reductions() as told:
            function(torch.zeros(100, dtype=torch.int64))
            assert told() == 1
        return
    assert longest(function, *shape) == 1


def test_the_longest_of_several_counts_and_nothing_outside_the_block() -> None:
    with torch.inference_mode(), watch_reductions() as told:
        torch.ones(5).sum()
        torch.ones(50).sum()
        torch.ones(7).sum()
    torch.ones(500).sum()
    assert told() == 50


def test_a_scalar_is_a_sum_of_one() -> None:
    assert longest(lambda x: x.sum()) == 1
    assert longest(lambda x: x.softmax(0)) == 1


def test_a_recurrent_layer_is_as_long_as_its_widest_sum() -> None:
    with torch.inference_mode(), watch_reductions() as told:
        nn.LSTM(37, 5)(torch.ones(2, 1, 37))
    assert told() >= 37
