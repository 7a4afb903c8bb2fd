from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest
import torch
from torch import nn

from parity.models.files.weights import STATE_KEYS, find_weights, notes_on

STATE = {"w": torch.zeros(2), "b": torch.ones(1)}


def names(held: Any) -> list[str]:
    return [candidate.name for candidate in find_weights(held)]


def copied() -> dict[str, torch.Tensor]:
    return {key: value.clone() for key, value in STATE.items()}


def test_a_state_dict_is_the_file_itself() -> None:
    (found,) = find_weights(STATE)
    assert found.path == ()
    assert found.tensors is STATE


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ({"epoch": 3, "net": STATE}, "net"),
        ({"checkpoint": {"model": STATE}}, "checkpoint.model"),
        ({"ema": {"module": STATE, "decay": 0.9}}, "ema.module"),
        ({"a": {"b": {"state_dict": STATE}}}, "a.b.state_dict"),
        ({"my_own_name": STATE, "epoch": 1}, "my_own_name"),
        ({"sampling_net": STATE, "graded": 1}, "sampling_net"),
        ([STATE, {"lr": 0.1}], "0"),
        ({"state_dict": STATE, "rng_state": torch.zeros(5)}, "state_dict"),
    ],
)
def test_weights_are_found_wherever_they_lie(held: Any, expected: str) -> None:
    assert names(held) == [expected]


def test_what_was_trained_comes_before_its_average_whatever_their_order() -> None:
    assert names({"ema": {"module": copied()}, "other": copied(), "model": copied()}) == [
        "model",
        "ema.module",
        "other",
    ]
    assert STATE_KEYS.index("state_dict") == 0
    assert STATE_KEYS.index("model") < STATE_KEYS.index("ema")


def test_the_same_tensors_under_two_names_are_one() -> None:
    assert names({"model": STATE, "best": STATE}) == ["model"]


@pytest.mark.parametrize(
    "held",
    [
        {"state": {0: {"exp_avg": torch.zeros(2)}}, "param_groups": [{"lr": 0.1}]},
        {"optimizer": {"exp_avg": torch.zeros(2)}},
        {"optimizerG": {"exp_avg": torch.zeros(2)}, "grad_scaler": {"scale": torch.zeros(1)}},
        {"optimizer_states": [{"exp_avg": torch.zeros(2)}]},
        {"lr_scheduler": {"last": torch.zeros(1)}, "epoch": 3},
        {"training": {"state": {0: {"step": torch.zeros(())}}, "param_groups": []}},
        {"losses": [torch.zeros(1)]},
        torch.zeros(3),
        {},
        None,
    ],
)
def test_an_optimizers_state_is_never_taken_for_weights(held: Any) -> None:
    assert find_weights(held) == ()


def test_tensors_among_numbers_are_weights_and_the_numbers_are_named() -> None:
    (found,) = find_weights({"w": torch.zeros(2), "epoch": 3})
    assert list(found.tensors) == ["w"]
    assert found.left == ("epoch",)


def test_extra_state_belongs_to_the_weights() -> None:
    held = {"w": torch.zeros(2), "norm._extra_state": {"steps": 3}}
    (found,) = find_weights(held)
    assert found.tensors is held


def test_a_module_is_read_as_its_state_dict() -> None:
    assert [list(found.tensors) for found in find_weights({"model": nn.Linear(1, 1)})] == [["weight", "bias"]]


def test_versions_stay_with_weights_that_others_were_taken_from() -> None:
    state: Any = OrderedDict(nn.BatchNorm1d(2).state_dict())
    state._metadata = {"": {"version": 2}}
    state["epoch"] = 3
    (found,) = find_weights(state)
    assert found.tensors._metadata == {"": {"version": 2}}  # type: ignore[attr-defined]  # where torch keeps it


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.complex64])
def test_weights_that_are_not_finite_are_told(dtype: torch.dtype) -> None:
    healthy = {"a": torch.ones(2).to(dtype), "b": torch.ones(2, dtype=torch.int64)}
    assert notes_on(healthy) == ()
    broken = {**healthy, "c": torch.full((2,), torch.nan).to(dtype), "d": torch.full((2,), torch.nan).to(dtype)}
    assert notes_on(broken) == ("weights that are not finite: c and 1 more",)
