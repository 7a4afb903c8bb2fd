"""Sums and peaks of a block in one loop that reads every number once, compiled by numba where it is installed.

Nothing else imports numba, and nothing needs it: `parity.compare.errors` finds the same with NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from parity.arrays import Array

Floats = npt.NDArray[np.float64]

Measure = Callable[[Array, Array, Array], tuple[Floats, Floats]]
"""Of `target`, `reference` and `oracle`, each `[lines, numbers]`: `sums` float64[2, lines] (squares of the error, and
of the oracle), and `peaks` float64[3, lines] (largest error, oracle, and difference to the reference). Where a number
is not finite, one of the two is not, and the others of that line mean nothing."""

WORTH_LOADING = 1 << 22
"""Numbers of a call from which numba is loaded: that takes about half a second of processor time in each process, and
saves about 1 ns a number in each call. A model whose calls are as large pays it back after some 130 calls, which is
less than one target's held-out samples usually are. The size of the call alone decides, so that its result does not
depend on what was compared before it."""

_Compiled = Callable[[Array, Array, Array, Floats, npt.NDArray[np.int64]], None]


def fused(target: Array, reference: Array, oracle: Array) -> Measure | None:
    """What measures blocks of these arrays in one loop, or None where NumPy has to.

    NumPy has to where the call is small (`WORTH_LOADING`), where the arrays are neither float32 nor float64 with an
    oracle in float64, all in the machine's byte order, and where numba is missing or cannot be used.
    """
    if reference.size < WORTH_LOADING or not target.size == reference.size == oracle.size:
        return None
    for dtype in ("float32", "float64"):
        if target.dtype == reference.dtype == dtype and oracle.dtype == np.float64:
            compiled = load(dtype)
            return functools.partial(_measure, compiled) if compiled else None
    return None


@functools.cache
def load(dtype: str) -> _Compiled | None:
    """The loop for targets and references of a dtype, compiled or read from numba's cache; None if that fails.

    Args:
        dtype: `float32` or `float64`.
    """
    try:
        import numba  # noqa: PLC0415  # only for large calls: loading it takes longer than most of them

        if numba.config.DISABLE_JIT:
            return None
        # Arrays that may be written and aligned ones are accepted as well; so one compilation serves all.
        narrow, wide = (
            numba.types.Array(getattr(numba.types, name), 2, "C", readonly=True, aligned=False)
            for name in (dtype, "float64")
        )
        signature = numba.void(narrow, narrow, wide, numba.float64[:, ::1], numba.int64[:, ::1])
        # Sums may be taken in any order and multiplied while adding. NaN and infinity keep their meaning.
        make = numba.njit([signature], nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
        compiled: _Compiled = make(_loop)
    except Exception:  # noqa: BLE001  # too new a NumPy, no place for the cache, no LLVM: none of it is worth a report
        return None
    return compiled


def _measure(compiled: _Compiled, target: Array, reference: Array, oracle: Array) -> tuple[Floats, Floats]:
    sums = np.empty((2, len(target)))
    peaks = np.empty((3, len(target)), np.int64)
    compiled(target, reference, oracle, sums, peaks)
    found: Floats = peaks.view(np.float64)
    if target.dtype == np.float32:
        found[2] = found[2].astype(np.float32)  # as a difference of float32: rounding keeps the order
    return sums, found


def _loop(
    target: npt.NDArray[np.floating],
    reference: npt.NDArray[np.floating],
    oracle: Floats,
    sums: Floats,
    peaks: npt.NDArray[np.int64],
) -> None:
    """Fill sums and peaks line by line.

    Magnitudes are compared by their bits, which as integers have the same order: NaN above infinity above the finite
    numbers. So NaN is not lost in a maximum, and a processor does many at a time in any order.
    """
    for line in range(target.shape[0]):
        noise, signal = 0.0, 0.0
        error_peak, oracle_peak, apart_peak = np.int64(0), np.int64(0), np.int64(0)
        for place in range(target.shape[1]):
            ours, exact = np.float64(target[line, place]), oracle[line, place]
            error = ours - exact
            apart = ours - np.float64(reference[line, place])
            noise += error * error
            signal += exact * exact
            error_peak = max(error_peak, np.float64(abs(error)).view(np.int64))
            oracle_peak = max(oracle_peak, np.float64(abs(exact)).view(np.int64))
            apart_peak = max(apart_peak, np.float64(abs(apart)).view(np.int64))
        sums[0, line], sums[1, line] = noise, signal
        peaks[0, line], peaks[1, line], peaks[2, line] = error_peak, oracle_peak, apart_peak
