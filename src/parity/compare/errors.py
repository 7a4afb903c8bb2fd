"""Errors of one call against the oracle, sample by sample, in the four measures of the floor rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from parity.arrays import Array
from parity.compare.blocks import BLOCK, Block, Plan, over_blocks
from parity.compare.fused import Measure, fused

Floats = npt.NDArray[np.float64]

MEASURES = ("rms/sample", "max/sample", "rms/output", "max/output")
"""RMS and maximum within a sample, relative to the sample's own scale and to the output's over all."""

_DOT = 8192
"""Numbers that BLAS adds at a time: from 10,000 on OpenBLAS starts threads, and their number would change the sum."""


@dataclass(frozen=True)
class Rows:
    """Per sample: error and scale as RMS and maximum, and the largest absolute difference to eager.

    Attributes:
        rms: RMS of target minus oracle, float64[samples].
        peak: Maximum of the same, float64[samples].
        scale_rms: RMS of the oracle, float64[samples].
        scale_peak: Maximum magnitude of the oracle, float64[samples].
        to_eager: Largest absolute difference to the reference, float64[samples].
        signal: Sum of squares of the oracle, for SQNR.
        noise: Sum of squares of the error, for SQNR.
        misplaced: How many numbers are NaN or infinite where the reference has another, or the other way round.
        first_misplaced: Place of the first of them in the flattened array, or None.
    """

    rms: Floats
    peak: Floats
    scale_rms: Floats
    scale_peak: Floats
    to_eager: Floats
    signal: float
    noise: float
    misplaced: int = 0
    first_misplaced: int | None = None

    def relative(self, scale_rms: float, scale_peak: float) -> Floats:
        """Errors by measure, float64[4, samples]; a sample of zeros is held against the output's scale."""
        own_rms = np.where(self.scale_rms > 0, self.scale_rms, scale_rms)
        own_peak = np.where(self.scale_peak > 0, self.scale_peak, scale_peak)
        return np.stack(
            [
                _divide(self.rms, own_rms),
                _divide(self.peak, own_peak),
                _divide(self.rms, np.full_like(self.rms, scale_rms)),
                _divide(self.peak, np.full_like(self.peak, scale_peak)),
            ]
        )


def row_errors(target: Array, reference: Array, oracle: Array, *, batched: bool) -> Rows:
    """Errors of one call, in one pass over its arrays and without a copy of any.

    Positions where reference or oracle is not finite are left out of the errors. Sums are taken in float64; so are
    differences, but for `to_eager` of two float32 arrays, which is rounded to float32 once. A large call takes the
    loop of `parity.compare.fused` where it can; peaks and counts are the same, and sums differ by their roundings.

    Args:
        target: What the target returned, any float or complex dtype, shape of the reference.
        reference: What eager returned.
        oracle: The same in float64.
        batched: Whether the first axis counts samples; otherwise the whole call is one.
    """
    rows = len(reference) if batched else 1
    plan = Plan(rows, reference.size // rows if rows else 0)
    found = _Lines(plan.lines)
    in_one_loop = fused(target, reference, oracle)
    over_blocks(plan, lambda: _Pass(target, reference, oracle, found, in_one_loop).measure)
    noise, signal, left_out = (each.reshape(rows, plan.per_row).sum(axis=1) for each in found.sums)
    peak, scale_peak, to_eager = (each.reshape(rows, plan.per_row).max(axis=1) for each in found.peaks)
    count = np.maximum(plan.columns - left_out, 1)
    return Rows(
        rms=np.sqrt(noise / count),
        peak=peak,
        scale_rms=np.sqrt(signal / count),
        scale_peak=scale_peak,
        to_eager=to_eager,
        signal=float(signal.sum()),
        noise=float(noise.sum()),
        misplaced=sum(found.misplaced.values()),
        first_misplaced=min(found.misplaced, default=None),
    )


class _Lines:
    """Results of a pass by line of its plan.

    Attributes:
        sums: Squares of the error, squares of the oracle, and how many numbers were left out, float64[3, lines].
        peaks: Largest error, oracle and difference to the reference, float64[3, lines].
        misplaced: How many numbers are misplaced, by the place of the first one of their block.
    """

    def __init__(self, lines: int) -> None:
        self.sums = np.zeros((3, lines))
        self.peaks = np.zeros((3, lines))
        self.misplaced: dict[int, int] = {}


class _Pass:
    """One thread's pass over blocks, with a buffer of its own."""

    def __init__(
        self, target: Array, reference: Array, oracle: Array, found: _Lines, in_one_loop: Measure | None
    ) -> None:
        self._arrays = target, reference, oracle
        self._itself = target is reference
        self._found = found
        self._in_one_loop = in_one_loop
        self._wide = np.dtype(np.complex128 if "c" in {each.dtype.kind for each in self._arrays} else np.float64)
        self._buffer = np.empty(min(BLOCK, reference.size), self._wide)

    def measure(self, block: Block) -> None:
        """Fill the lines of a block. A number that is not finite shows in its sums; then each is looked at."""
        target, reference, oracle = (block.of(each) for each in self._arrays)
        measure = self._in_one_loop or self._measure_in_passes
        sums, peaks = measure(target, reference, oracle)
        if np.isfinite(sums).all() and np.isfinite(peaks).all():
            self._found.sums[:2, block.lines], self._found.peaks[:, block.lines] = sums, peaks
        else:
            self._measure_masked(block, target, reference, oracle)

    def _measure_in_passes(self, target: Array, reference: Array, oracle: Array) -> tuple[Floats, Floats]:
        """What `Measure` promises, by one operation of NumPy after the other."""
        apart = np.zeros(len(target)) if self._itself else _peak(self._apart(target, reference))
        error = self._subtract(target, oracle)
        exact = oracle.astype(self._wide, copy=False)
        return np.stack([_squares(error), _squares(exact)]), np.stack([_peak(error), _peak(exact), apart])

    def _measure_masked(self, block: Block, target: Array, reference: Array, oracle: Array) -> None:
        judged = np.isfinite(reference) & np.isfinite(oracle)
        error = np.where(judged, np.abs(self._subtract(target, oracle)), 0.0)
        exact = np.where(judged, np.abs(oracle.astype(self._wide)), 0.0)
        apart = np.where(judged, np.abs(self._subtract(target, reference)), 0.0)
        left_out = np.count_nonzero(~judged, axis=1)
        self._found.sums[:, block.lines] = np.square(error).sum(axis=1), np.square(exact).sum(axis=1), left_out
        self._found.peaks[:, block.lines] = [each.max(axis=1) for each in (error, exact, apart)]
        wrong = _misplaced(target, reference)
        if wrong.any():
            self._found.misplaced[block.start + int(np.argmax(wrong))] = int(np.count_nonzero(wrong))

    def _apart(self, target: Array, reference: Array) -> Array:
        if target.dtype == reference.dtype == np.float32 and self._wide == np.float64:
            narrow = self._buffer.view(np.float32)[: target.size].reshape(target.shape)
            return np.subtract(target, reference, out=narrow)
        return self._subtract(target, reference)

    def _subtract(self, one: Array, other: Array) -> Array:
        """The difference in full width, in the buffer: the next call overwrites it."""
        difference = self._buffer[: one.size].reshape(one.shape)
        if one.dtype == self._wide:
            return np.subtract(one, other, out=difference)
        np.copyto(difference, one)  # converting and subtracting at once takes longer than one after the other
        return np.subtract(difference, other, out=difference)


def _squares(lines: Array) -> Floats:
    """Sum of squares of each line, `[lines, numbers]` in float64 or complex128, by BLAS."""
    flat = lines.view(np.float64)
    whole = flat.shape[1] // _DOT * _DOT
    parts = flat[:, :whole].reshape(len(flat), -1, _DOT)
    rest = flat[:, whole:]
    return _dot(parts).sum(axis=1) + _dot(rest) if whole else _dot(rest)


def _dot(vectors: Array) -> Floats:
    product: Floats = np.matmul(vectors[..., None, :], vectors[..., :, None])[..., 0, 0]
    return product


def _peak(lines: Array) -> Floats:
    """Largest magnitude of each line; NaN where one is NaN."""
    if lines.dtype.kind == "c":
        return np.asarray(np.abs(lines).max(axis=1))
    # Two passes that read, where taking magnitudes first would write as well.
    peak: Floats = np.maximum(np.maximum.reduce(lines, axis=1), -np.minimum.reduce(lines, axis=1), dtype=np.float64)
    return peak + 0.0  # the negative of 0 is none that a reader would expect


def _misplaced(target: Array, reference: Array) -> Array:
    """Where NaN or infinity is in only one of the two, or another infinity."""
    lacking = np.isnan(target) | np.isnan(reference)
    infinite = np.isinf(target) | np.isinf(reference)
    wrong: Array = (np.isnan(target) != np.isnan(reference)) | (infinite & (target != reference) & ~lacking)
    return wrong


def _divide(error: Floats, scale: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = np.where(error == 0, 0.0, error / scale)
        return np.where(np.isnan(ratio), np.inf, ratio)
