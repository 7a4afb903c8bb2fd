from __future__ import annotations

import numpy as np
import pytest

from parity.arrays import Array
from parity.compare.errors import MEASURES, Rows, row_errors

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
