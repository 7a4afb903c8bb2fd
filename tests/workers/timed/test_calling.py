from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

from parity.arrays import Array
from parity.workers.timed.calling import timed_call, touch


class Sleeper:
    facts: Mapping[str, str] = {"device": "cpu"}

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.calls = 0

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        self.calls += 1
        time.sleep(self.seconds)
        return {"y": inputs["x"]}


INPUTS = {"x": np.zeros((2, 3), np.float32)}


def test_a_call_takes_what_its_session_takes() -> None:
    session = Sleeper(0.02)
    assert timed_call(session, "cpu")(INPUTS) >= 0.02
    assert session.calls == 1


def test_a_planted_slowdown_is_within_what_is_timed() -> None:
    assert timed_call(Sleeper(0.02), "cpu", slowdown=0.5)(INPUTS) >= 0.03


class Lazy(np.ndarray):
    """An array that notices when somebody reads it."""

    read = 0

    def item(self, *args: Any) -> Any:
        type(self).read += 1
        return super().item(*args)


def test_each_output_is_touched_and_an_empty_one_is_not() -> None:
    touch({"a": np.ones((2, 2)).view(Lazy), "b": np.ones(()).view(Lazy), "c": np.ones((0, 2)).view(Lazy)})
    assert Lazy.read == 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_torch_on_a_gpu_is_timed_by_its_events() -> None:
    class OnGpu(Sleeper):
        facts: Mapping[str, str] = {"device": "cuda"}

        def run(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
            big = torch.randn(4096, 4096, device="cuda")
            for _ in range(20):
                big = big @ big * 1e-4
            return {"y": inputs["x"]}

    call = timed_call(OnGpu(0), "cuda")
    call(INPUTS)
    assert call(INPUTS) > 0.0005
