"""Which sizes are swept: all of them allowed, telling, few, and every two of them together."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from parity.models.signature import Dim, parse_signature
from parity.samples.sizes import (
    MAX_CALLS,
    MAX_ELEMENTS,
    choose_sizes,
    pairwise,
    plan_batches,
    plan_sizes,
)

TOKENS = parse_signature(["tokens: int64[N, T in 1..128] in 0..99", "lengths: int64[N] in 1..T"])


@pytest.mark.parametrize("seed", range(30))
def test_every_two_values_of_two_lists_are_together_in_a_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = [tuple(range(rng.integers(1, 6))) for _ in range(rng.integers(2, 6))]
    rows = pairwise(values)
    for (one, lefts), (other, rights) in itertools.combinations(enumerate(values), 2):
        assert {(row[one], row[other]) for row in rows} == set(itertools.product(lefts, rights))
    assert len(set(rows)) == len(rows)


def test_a_cover_is_far_smaller_than_the_product() -> None:
    assert len(pairwise([(1, 2, 3)] * 4)) <= 15 < 3**4
    assert pairwise([(1, 2, 3)]) == [(1,), (2,), (3,)]


def test_sizes_are_the_bounds_a_prime_that_no_sample_has_and_one_beyond_every_sample() -> None:
    sizes = choose_sizes(Dim(symbol="T", low=1, high=128), seen={3, 10, 40}, cap=320)
    assert sizes[:3] == [1, 128, 5]
    assert {2, 41} <= set(sizes)
    assert choose_sizes(Dim(symbol="T"), seen={10}, cap=64)[:2] == [1, 11]


def test_with_a_step_one_size_is_a_multiple_that_no_sample_has() -> None:
    sizes = choose_sizes(Dim(symbol="H", step=32), seen={32, 64}, cap=512)
    assert sizes[0] == 32
    assert all(size % 32 == 0 for size in sizes)
    assert any(size not in {32, 64} and size < 160 for size in sizes)


@pytest.mark.parametrize("dim", ["T", "T in 1..128", "T in 50..70", "T in 7..7", "T step 32", "T in 64..256 step 64",
                                 "T in 2..", "T in 0..9"])  # fmt: skip
@pytest.mark.parametrize("largest", [7, 64, 256])
def test_every_size_is_one_that_the_signature_allows(dim: str, largest: int) -> None:
    found = parse_signature(f"x: float32[N, {dim}]").symbols["T"]
    sizes = choose_sizes(found, {largest}, cap=8 * largest)
    assert all(found.admits(size) for size in sizes)
    assert len(set(sizes)) == len(sizes)


@pytest.mark.parametrize(
    "dims",
    [
        "T in 1..128",
        "H, W",
        "H step 32, W step 32",
        "A in 1..9, B in 1..9, C in 1..9, D in 1..9",
        "A in 1..4, B in 1..2",
    ],
)
def test_calls_are_few_allowed_and_hold_every_pair(dims: str) -> None:
    signature = parse_signature(f"x: float32[N, {dims}]")
    names = [name for name in signature.symbols if name != "N"]
    plan = plan_sizes(signature, [dict.fromkeys(names, 32)], largest=32 ** len(names))
    assert 1 < len(plan.calls) <= MAX_CALLS
    for call in plan.calls:
        assert all(signature.symbols[name].admits(size) for name, size in call.sizes.items())
    for one, other in itertools.combinations(names, 2):
        pairs = {(call.sizes[one], call.sizes[other]) for call in plan.calls}
        assert len(pairs) == len({a for a, _ in pairs}) * len({b for _, b in pairs})


def test_batch_sizes_of_these_calls_are_one_and_an_odd_one_that_is_allowed() -> None:
    assert {call.batch for call in plan_sizes(TOKENS, [{"T": 9}], 10).calls} == {1, 3}
    bounded = parse_signature("x: float32[N in 4..8, T]")
    assert {call.batch for call in plan_sizes(bounded, [{"T": 9}], 9).calls} == {4}
    without = parse_signature(["x: float32[T, 4]", "y: float32[4]"])
    assert without.batch is None
    plan = plan_sizes(without, [{"T": 9}], 40)
    assert {call.batch for call in plan.calls} == {1}
    assert len(plan.calls) > 3


def test_a_bound_far_beyond_every_sample_is_left_out_and_named() -> None:
    plan = plan_sizes(parse_signature("x: float32[N, T in 1..100000]"), [{"T": 30}], 30)
    assert max(call.sizes["T"] for call in plan.calls) == 240
    assert plan.left_out == ("T=100000, the bound, is more than 8 times any sample: not run",)
    assert not plan_sizes(TOKENS, [{"T": 30}], 30).left_out


def test_a_call_with_too_many_numbers_is_left_out_and_named() -> None:
    signature = parse_signature("image: float32[N, 3, H in 1..2048, W in 1..2048]")
    plan = plan_sizes(signature, [{"H": 256, "W": 256}], 3 * 256 * 256)
    elements = [call.batch * 3 * call.sizes["H"] * call.sizes["W"] for call in plan.calls]
    assert max(elements) <= MAX_ELEMENTS
    assert any("H=2048, W=2048 has more than 1,048,576 numbers" in each for each in plan.left_out), plan.left_out


def test_without_symbols_there_is_nothing_to_sweep() -> None:
    assert plan_sizes(parse_signature("x: float32[N, 3]"), [{}], 3).calls == ()


def test_batch_sizes_are_those_asked_for_one_an_odd_one_and_the_bounds() -> None:
    assert plan_batches((1, 2, 8), Dim(symbol="N"), 10) == ((1, 2, 8, 3), ())
    assert plan_batches((16,), Dim(symbol="N", low=4, high=64), 10) == ((16, 4, 64), ())
    assert plan_batches((1, 5), Dim(symbol="N", low=1, high=4), 10)[0] == (1, 3, 4)
    assert plan_batches((8,), Dim(symbol="N", step=4), 10)[0] == (8, 4)


def test_a_bound_of_the_batch_that_has_too_many_numbers_is_left_out_and_named() -> None:
    sizes, left_out = plan_batches((1, 8), Dim(symbol="N", high=4096), 150_000)
    assert max(sizes) == 8
    assert left_out == ("N=4096, the bound, has too many numbers: not run",)
