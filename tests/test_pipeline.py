"""Which batch sizes a report times."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from parity.models.signature import parse_signature
from parity.pipeline import _timed_batches
from parity.samples.calls import Call
from parity.workbench import Workbench


@pytest.mark.parametrize(
    ("asked", "swept", "timed"),
    [((1, 8), (1, 8, 3), (1, 8)), ((1, 8), (8, 3), (8,)), ((1, 8), (4,), (4,)), ((64,), (5, 2), (2, 5))],
)
def test_a_signature_that_allows_no_size_that_was_asked_for_is_timed_at_those_that_it_has(
    asked: tuple[int, ...], swept: tuple[int, ...], timed: tuple[int, ...]
) -> None:
    calls = [Call("h0", (0, 1)), *(Call(f"s{size}", (0,) * size, sweep=size) for size in swept)]
    ran = {call.id: {"y": 0} for call in calls}
    bench = SimpleNamespace(
        spec=SimpleNamespace(signature=parse_signature("x: float32[N, 6]")),
        batch_sizes=asked,
        loaded=lambda: SimpleNamespace(calls=calls),
        reference=lambda: SimpleNamespace(arrays=SimpleNamespace(eager=SimpleNamespace(get_all=ran.get))),
    )
    assert _timed_batches(cast("Workbench", bench)) == timed
