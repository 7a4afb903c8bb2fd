from __future__ import annotations

import numpy as np
import pytest

from parity.models.signature import Dim
from parity.samples.calls import EXAMPLE_BATCH, HELD_OUT_BATCH, Call, kept, plan_calls, plan_example

N = Dim(symbol="N")


@pytest.mark.parametrize("seed", range(20))
def test_every_sample_is_held_out_once_in_a_call_of_one_shape(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = rng.integers(0, 4, rng.integers(1, 40)).tolist()
    calls = [call for call in plan_calls(shapes, (1, 3, 32), N) if call.sweep is None]
    assert sorted(index for call in calls for index in call.samples) == list(range(len(shapes)))
    assert all(len({shapes[index] for index in call.samples}) == 1 for call in calls)
    assert max(len(call.samples) for call in calls) <= HELD_OUT_BATCH


@pytest.mark.parametrize("seed", range(20))
def test_every_batch_size_has_one_call_of_that_size_and_of_one_shape(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = rng.integers(0, 4, rng.integers(1, 40)).tolist()
    swept = [call for call in plan_calls(shapes, (1, 2, 33), N) if call.sweep is not None]
    assert [(call.sweep, len(call.samples)) for call in swept] == [(1, 1), (2, 2), (33, 33)]
    assert all(len({shapes[index] for index in call.samples}) == 1 for call in swept)


def test_the_sweep_visits_other_shapes_and_fills_a_batch_with_different_samples() -> None:
    calls = {call.id: call for call in plan_calls([0] * 5 + [1] * 4, (2, 3), N)}
    assert calls["s2"].samples == (0, 1)
    assert calls["s3"].samples == (5, 6, 7)


def test_without_a_batch_every_call_is_one_sample_and_nothing_is_swept() -> None:
    calls = plan_calls([0, 0, 1], (1, 2), None)
    assert [(call.samples, call.sweep) for call in calls] == [((0,), None), ((1,), None), ((2,), None)]


def test_no_two_calls_share_an_id_even_where_a_batch_size_is_asked_for_twice() -> None:
    ids = [call.id for call in plan_calls([0] * 20, (1, 8, 8, 1), N)]
    assert len(set(ids)) == len(ids)
    assert ids[-2:] == ["s1", "s8"]


def test_the_example_is_of_one_middle_shape_and_at_a_batch_that_is_neither_0_nor_1() -> None:
    shapes, elements = [0, 1, 2, 1], [1, 50, 900, 50]
    example = plan_example(shapes, elements, N)
    assert example == (1, 3)
    assert len(example) == EXAMPLE_BATCH > 1


def test_a_sample_alone_in_its_shape_is_repeated_for_the_example() -> None:
    assert plan_example([0], [4], N) == (0, 0)
    assert plan_example([0, 0], [4, 4], None) == (0,)


def test_without_a_batch_dimension_the_example_is_a_sample_of_middle_size() -> None:
    """The first sample may be the smallest, whose dimensions of 1 an export would make constants."""
    assert plan_example((0, 1, 2), (1, 6, 12), None) == (1,)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("low", "high", "step"), [(4, 64, 1), (1, 3, 1), (2, None, 2), (16, 32, 16), (5, 5, 1)])
def test_no_call_has_a_batch_size_that_the_signature_rules_out(
    seed: int, low: int, high: int | None, step: int
) -> None:
    batch = Dim(symbol="N", low=low, high=high, step=step)
    rng = np.random.default_rng(seed)
    shapes = rng.integers(0, 4, rng.integers(1, 40)).tolist()
    calls = plan_calls(shapes, range(40), batch)
    assert all(batch.admits(len(call.samples)) for call in calls)
    assert batch.admits(len(plan_example(shapes, shapes, batch)))
    judged = [index for call in calls if call.sweep is None for index in call.judged]
    assert sorted(judged) == list(range(len(shapes))), "each sample counts once, whatever fills its call up"


def test_a_remainder_is_filled_up_to_the_least_that_the_signature_allows() -> None:
    calls = plan_calls([0] * 10, (), Dim(symbol="N", low=4))
    assert [(call.samples, call.filler) for call in calls] == [(tuple(range(8)), 0), ((8, 9, 8, 9), 2)]
    assert calls[1].judged == (8, 9)


def test_outputs_of_the_filler_are_not_kept() -> None:
    call = Call("h0", (8, 9, 8, 9), filler=2)
    outputs = {"y": np.arange(8).reshape(4, 2), "pooled": np.arange(3), "total": np.asarray(1.0)}
    shapes = {name: array.shape for name, array in kept(outputs, call).items()}
    assert shapes == {"y": (2, 2), "pooled": (3,), "total": ()}
    assert kept(outputs, Call("h0", (8, 9, 10, 11)))["y"].shape == (4, 2)
