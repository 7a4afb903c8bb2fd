from __future__ import annotations

import dataclasses
import tracemalloc

import numpy as np
import pytest

from parity.arrays import Array
from parity.compare import blocks
from parity.compare.blocks import BLOCK
from parity.compare.errors import MEASURES, Rows, row_errors
from tests.compare.cases import wide
from tests.compare.formulas import assert_same, drawn, plainly

RNG = np.random.default_rng(3)


def errors(target: Array, exact: Array, *, batched: bool = True) -> Rows:
    return row_errors(target, exact, exact.astype(np.complex128 if exact.dtype.kind == "c" else np.float64),
                      batched=batched)  # fmt: skip


def test_each_sample_has_its_own_error_and_scale() -> None:
    exact = np.asarray([[3.0, 4.0], [0.0, 1.0]])
    rows = errors(np.add(exact, [[0.0, 0.1], [0.3, 0.4]]), exact)
    np.testing.assert_allclose(rows.peak, [0.1, 0.4])
    np.testing.assert_allclose(rows.rms, [0.1 / np.sqrt(2), 0.5 / np.sqrt(2)])
    np.testing.assert_allclose(rows.scale_peak, [4, 1])
    np.testing.assert_allclose(rows.scale_rms, [5 / np.sqrt(2), 1 / np.sqrt(2)])
    np.testing.assert_allclose([rows.signal, rows.noise], [26, 0.26])


def test_the_four_measures_are_relative_to_the_samples_and_to_the_outputs_scale() -> None:
    exact = np.asarray([[2.0, 2.0], [4.0, 4.0]])
    relative = errors(exact + 1, exact).relative(8.0, 16.0)
    assert len(relative) == len(MEASURES)
    np.testing.assert_allclose(relative, [[1 / 2, 1 / 4], [1 / 2, 1 / 4], [1 / 8, 1 / 8], [1 / 16, 1 / 16]])


def test_a_sample_of_zeros_is_held_against_the_outputs_scale() -> None:
    exact = np.asarray([[0.0], [2.0]])
    np.testing.assert_allclose(errors(exact + 1, exact).relative(2.0, 2.0)[0], [0.5, 0.5])


def test_no_error_is_zero_and_an_error_without_any_scale_is_infinite() -> None:
    exact = np.zeros((2, 1))
    np.testing.assert_array_equal(errors(exact, exact).relative(0.0, 0.0), np.zeros((4, 2)))
    assert np.isinf(errors(exact + 1, exact).relative(0.0, 0.0)).all()


def test_positions_that_are_not_finite_in_the_reference_are_not_measured_here() -> None:
    exact = np.asarray([[np.nan, np.inf, 3.0, 4.0]])
    rows = errors(np.asarray([[np.nan, np.inf, 3.0, 4.5]]), exact)
    np.testing.assert_allclose([rows.peak[0], rows.scale_peak[0], rows.scale_rms[0]], [0.5, 4, 5 / np.sqrt(2)])


@pytest.mark.parametrize(("shape", "batched", "count"), [((), False, 1), ((0,), False, 1), ((3, 0), True, 3)])
def test_scalars_and_empty_outputs_have_rows_of_zeros(shape: tuple[int, ...], count: int, *, batched: bool) -> None:
    zeros = np.zeros(shape)
    rows = errors(zeros, zeros, batched=batched)
    assert len(rows.rms) == count
    assert not rows.relative(0.0, 0.0).any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_the_difference_is_taken_in_full_width(dtype: str) -> None:
    """In float16 60000 minus -60000 overflows, and 1 minus (1 - 2**-30) vanishes in float32."""
    exact = np.asarray([[60000.0]]).astype(dtype)
    np.testing.assert_allclose(errors(-exact, exact).peak, [120000], rtol=1e-3)
    one = np.ones((1, 1), dtype)
    rows = row_errors(one, one, np.asarray([[1 - 2.0**-30]]), batched=True)
    np.testing.assert_allclose(rows.peak, [2.0**-30])


def test_strides_do_not_change_an_error() -> None:
    exact, target = RNG.standard_normal((4, 6, 5)), RNG.standard_normal((4, 6, 5))
    plain = errors(target, exact).relative(1.0, 1.0)
    turned = errors(target.transpose(0, 2, 1), exact.transpose(0, 2, 1)).relative(1.0, 1.0)
    backwards = errors(target[:, ::-1], exact[:, ::-1]).relative(1.0, 1.0)
    np.testing.assert_allclose(turned, plain)
    np.testing.assert_allclose(backwards, plain)


def test_the_imaginary_part_counts() -> None:
    exact = np.asarray([[1 + 1j]])
    np.testing.assert_allclose(errors(np.asarray([[1 + 4j]]), exact).peak, [3])


SHAPES = [
    (1,), (7,), (3, 5), (1, 20_000), (2, 8192), (3, 8193), (300, 1000), (2, 3, 70_000), (5, BLOCK), (2, BLOCK + 1),
    (BLOCK + 3, 2), (1, 3 * BLOCK + 17), (0, 4), (4, 0), (2, 0, 3),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_blocks_give_what_the_plain_formulas_give(shape: tuple[int, ...], dtype: str) -> None:
    arrays = drawn(shape, dtype, np.random.default_rng(len(shape)))
    narrow = 2.0**-23 if dtype == "float32" else 1e-12
    for batched in (True, False):
        found, expected = row_errors(*arrays, batched=batched), plainly(*arrays, batched=batched)
        assert_same(found, expected, apart=narrow)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
@pytest.mark.parametrize("shape", [(6, 11), (3, BLOCK + 5)], ids=str)
def test_numbers_that_are_not_finite_are_found_wherever_they_are(shape: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(5)
    for case in range(12):
        arrays = drawn(shape, dtype, rng)
        for array in arrays if case < 8 else arrays[:2]:
            places = rng.integers(0, array.size, rng.integers(0, 4))
            array.reshape(-1)[places] = rng.choice([np.nan, np.inf, -np.inf], len(places))
        expected = plainly(*arrays, batched=True)
        assert_same(row_errors(*arrays, batched=True), expected, apart=2.0**-23)
        assert_same(row_errors(*arrays, batched=False), plainly(*arrays, batched=False), apart=2.0**-23)


def test_numbers_at_the_ends_of_a_dtype_do_not_overflow_on_the_way() -> None:
    for dtype in ("float16", "float32", "float64"):
        huge = np.full((1, 50_000), np.finfo(dtype).max / 4, dtype)
        tiny = np.full((1, 50_000), np.finfo(dtype).tiny, dtype)
        for array in (huge, tiny, np.concatenate([huge, tiny])):
            arrays = (-array, array, wide(array))
            if dtype != "float64":
                assert np.isfinite(row_errors(*arrays, batched=True).noise)
            assert_same(row_errors(*arrays, batched=True), plainly(*arrays, batched=True))


@pytest.mark.parametrize("dtype", [">f4", "float32", "float64"])
def test_any_layout_and_byte_order_gives_the_same(dtype: str) -> None:
    target, reference, oracle = drawn((40, 60, 90), "float32", np.random.default_rng(2))
    arrays = (target.astype(dtype), reference.astype(dtype), oracle)
    expected = row_errors(*(np.ascontiguousarray(each.transpose(2, 0, 1)[::-1]) for each in arrays), batched=True)
    found = row_errors(*(each.transpose(2, 0, 1)[::-1] for each in arrays), batched=True)
    assert_same(found, expected, apart=2.0**-23)


def test_a_target_in_half_precision_is_held_against_a_float32_reference_in_full_width() -> None:
    target, reference, oracle = drawn((4, 700), "float32", RNG)
    half = target.astype(np.float16)
    assert_same(row_errors(half, reference, oracle, batched=True), plainly(half, reference, oracle, batched=True))


def test_an_oracle_that_is_eager_itself_is_widened() -> None:
    target, reference, _ = drawn((4, 9000), "float32", RNG)
    found = row_errors(target, reference, reference, batched=True)
    assert_same(found, plainly(target, reference, reference, batched=True), apart=2.0**-23)


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = drawn((3, 5 * BLOCK + 11), "float32", RNG)
    assert 3 * 5 * BLOCK > blocks._WORTH_THREADS
    results = []
    for threads in (1, 2, 3, 4):
        monkeypatch.setattr(blocks, "cores", lambda threads=threads: threads)
        results.append(row_errors(*arrays, batched=True))
    first = results[0]
    for other in results[1:]:
        for field in dataclasses.fields(Rows):
            np.testing.assert_array_equal(getattr(other, field.name), getattr(first, field.name))


def test_what_goes_wrong_in_a_thread_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "cores", lambda: 2)
    with pytest.raises(ValueError, match="shape"):
        row_errors(np.zeros((2, 10**6)), np.zeros((2, 2 * 10**6)), np.zeros((2, 2 * 10**6)), batched=True)


@pytest.mark.parametrize("shape", [(1, 3_000_000), (3000, 1000), (3, 1_000_000)], ids=str)
def test_nothing_of_the_size_of_the_arrays_is_allocated(shape: tuple[int, ...]) -> None:
    arrays = drawn(shape, "float32", RNG)
    tracemalloc.start()
    try:
        row_errors(*arrays, batched=True)
        assert tracemalloc.get_traced_memory()[1] < arrays[0].nbytes
    finally:
        tracemalloc.stop()
