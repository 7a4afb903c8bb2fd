"""The loop finds what the operations of NumPy find, and nobody has to have it."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from parity.arrays import Array
from parity.compare import blocks, errors, fused
from parity.compare.blocks import BLOCK
from parity.compare.errors import Rows, row_errors
from parity.compare.fused import WORTH_LOADING
from tests.compare.cases import wide
from tests.compare.formulas import assert_same, drawn, plainly

Both = Callable[..., Rows]


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Both:
    """Errors by the loop, which must have run, after they were found to be those of NumPy."""
    pytest.importorskip("numba", reason="numba is not installed: comparing stays in NumPy")

    def compare(target: Array, reference: Array, oracle: Array, *, batched: bool = True) -> Rows:
        measured = []

        def counted(*arrays: Array) -> fused.Measure | None:
            measured.append(fused.fused(*arrays))
            return measured[0]

        monkeypatch.setattr(fused, "WORTH_LOADING", 0)
        monkeypatch.setattr(errors, "fused", counted)
        found = row_errors(target, reference, oracle, batched=batched)
        assert measured[0] is not None
        monkeypatch.setattr(errors, "fused", lambda *_: None)
        in_numpy = row_errors(target, reference, oracle, batched=batched)
        assert_same(found, in_numpy)
        for name in ("peak", "scale_peak", "to_eager"):
            np.testing.assert_array_equal(getattr(found, name), getattr(in_numpy, name), err_msg=name)
        return found

    return compare


SHAPES = [
    *((3, columns) for columns in (*range(1, 36), 63, 64, 65, 127, 128, 129, 1000)),
    (1, 20_000), (2, 3, 70_000), (2, BLOCK), (2, BLOCK + 1), (BLOCK + 3, 2), (1, 2 * BLOCK + 17),
    (), (1,), (7,), (0, 4), (4, 0), (2, 0, 3),
]  # fmt: skip
"""A processor goes over 2 to 64 numbers at a time: lengths on both sides of each."""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_loop_gives_what_numpy_and_the_plain_formulas_give(both: Both, shape: tuple[int, ...], dtype: str) -> None:
    arrays = drawn(shape, dtype, np.random.default_rng(len(shape)))
    narrow = 2.0**-23 if dtype == "float32" else 1e-12
    for batched in (True, False) if shape else (False,):
        assert_same(both(*arrays, batched=batched), plainly(*arrays, batched=batched), apart=narrow)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("columns", [1, 9, 64, 77])
def test_a_single_number_that_is_not_finite_is_found_in_each_array(
    both: Both, number: float, columns: int, dtype: str
) -> None:
    for which in range(3):
        for place in {0, columns // 2, columns - 1}:
            arrays = drawn((3, columns), dtype, np.random.default_rng(columns))
            arrays[which][1, place] = number
            found = both(*arrays)
            assert_same(found, plainly(*arrays, batched=True), apart=2.0**-23)
            assert found.misplaced == (which < 2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(6, 11), (3, BLOCK + 5)], ids=str)
def test_numbers_that_are_not_finite_are_counted_wherever_they_are(
    both: Both, shape: tuple[int, ...], dtype: str
) -> None:
    rng = np.random.default_rng(5)
    for case in range(9):
        arrays = drawn(shape, dtype, rng)
        for array in arrays if case < 6 else arrays[:2]:
            places = rng.integers(0, array.size, rng.integers(0, 4))
            array.reshape(-1)[places] = rng.choice([np.nan, np.inf, -np.inf], len(places))
        for batched in (True, False):
            assert_same(both(*arrays, batched=batched), plainly(*arrays, batched=batched), apart=2.0**-23)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scales_from_the_smallest_to_those_that_overflow(both: Both, dtype: str) -> None:
    kind = np.finfo(dtype)
    for scale in (kind.smallest_subnormal, kind.tiny, 1e-30, 1e-9, 1e9, 1e30, kind.max / 9, kind.max):
        target, reference, oracle = drawn((5, 333), dtype, np.random.default_rng(1))
        with np.errstate(all="ignore"):
            ours, eager, exact = (np.multiply(wide(each), scale) for each in (target, reference, oracle))
            arrays = ours.astype(dtype), np.negative(eager).astype(dtype), exact
        assert_same(both(*arrays), plainly(*arrays, batched=True), apart=2.0**-23)


def test_nothing_apart_is_zero_and_never_its_negative(both: Both) -> None:
    zeros = np.zeros((3, 100), np.float32)
    found = both(-zeros, zeros, zeros.astype(np.float64))
    for name in ("rms", "peak", "scale_rms", "scale_peak", "to_eager"):
        assert not np.signbit(getattr(found, name)).any()
    assert both(zeros, zeros, np.full((3, 100), 0.5)).to_eager.max() == 0


def test_an_array_may_be_read_only_unaligned_or_of_any_strides(both: Both) -> None:
    target, reference, oracle = drawn((40, 60, 9), "float32", np.random.default_rng(2))
    expected = both(target, reference, oracle)
    odd = np.frombuffer(b"." + target.tobytes(), np.float32, offset=1).reshape(target.shape)
    assert not odd.flags.writeable
    assert not odd.flags.aligned
    assert_same(both(odd, reference, oracle), expected)
    assert_same(both(np.asfortranarray(target), reference[::-1][::-1], oracle), expected)


@pytest.mark.parametrize("dtype", ["float16", ">f4", "complex64"])
def test_what_the_loop_is_not_made_for_is_left_to_numpy(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused, "WORTH_LOADING", 0)
    target, reference, oracle = drawn((4, 700), "float32", np.random.default_rng(2))
    assert fused.fused(target.astype(dtype), reference.astype(dtype), oracle) is None
    assert fused.fused(target.astype(dtype), reference, oracle) is None
    assert fused.fused(target, reference, oracle.astype(np.float32)) is None


def test_the_loop_reads_nothing_beyond_an_array_that_is_too_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused, "WORTH_LOADING", 0)
    with pytest.raises(ValueError, match="shape"):
        row_errors(np.zeros((2, 50)), np.zeros((2, 100)), np.zeros((2, 100)), batched=True)


def test_the_number_of_threads_changes_nothing(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = drawn((3, 2 * BLOCK + 11), "float32", np.random.default_rng(3))
    assert 3 * 2 * BLOCK > blocks._WORTH_THREADS
    results = []
    for threads in (1, 2, 3, 4, 2):
        monkeypatch.setattr(blocks, "cores", lambda threads=threads: threads)
        results.append(both(*arrays))
    for other in results[1:]:
        for field in dataclasses.fields(Rows):
            np.testing.assert_array_equal(getattr(other, field.name), getattr(results[0], field.name))


def without_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)


def without_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba", reason="numba is not installed: it cannot be switched off")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)


def without_place_for_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    caching = pytest.importorskip("numba.core.caching", reason="numba is not installed: it caches nothing")
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])


@pytest.mark.parametrize("without", [without_package, without_compiler, without_place_for_a_cache])
def test_where_numba_cannot_be_used_numpy_compares_and_nobody_notices(
    without: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    without(monkeypatch)
    monkeypatch.setattr(fused, "WORTH_LOADING", 0)
    monkeypatch.setattr(fused, "load", fused.load.__wrapped__)
    arrays = drawn((4, 700), "float32", np.random.default_rng(2))
    assert fused.load("float32") is None
    assert_same(row_errors(*arrays, batched=True), plainly(*arrays, batched=True), apart=2.0**-23)
    assert capfd.readouterr() == ("", "")


def loaded_by(shape: tuple[int, int], **environment: str) -> str:
    code = f"""
import sys
import numpy as np
from parity.compare import fused
from parity.compare.errors import row_errors
from parity.environment import environment
zeros = np.zeros({shape}, np.float32)
row_errors(zeros, zeros, zeros.astype(np.float64), batched=True)
print("numba" in sys.modules, "numba" in environment(1)["versions"])
if "numba" in sys.modules:
    print("in the loop" if fused.load("float32") else "in NumPy")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    assert not done.stderr
    return done.stdout.strip()


def test_only_a_large_call_loads_numba_and_then_the_report_names_it() -> None:
    pytest.importorskip("numba", reason="numba is not installed: nothing loads it")
    assert loaded_by((8, WORTH_LOADING // 8 - 1)) == "False False"
    assert loaded_by((8, WORTH_LOADING // 8)) == "True True\nin the loop"


def test_the_switch_of_numba_itself_is_respected() -> None:
    pytest.importorskip("numba", reason="numba is not installed: it has no switch")
    assert loaded_by((8, WORTH_LOADING // 8), NUMBA_DISABLE_JIT="1").endswith("in NumPy")
