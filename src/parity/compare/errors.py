"""Errors of one call against the oracle, sample by sample, in the four measures of the floor rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from parity.arrays import Array

Floats = npt.NDArray[np.float64]

MEASURES = ("rms/sample", "max/sample", "rms/output", "max/output")
"""RMS and maximum within a sample, relative to the sample's own scale and to the output's over all."""


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
    """

    rms: Floats
    peak: Floats
    scale_rms: Floats
    scale_peak: Floats
    to_eager: Floats
    signal: float
    noise: float

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
    """Errors of one call. Positions where the reference is not finite are compared elsewhere, by position.

    Args:
        target: What the target returned, any float or complex dtype, shape of the reference.
        reference: What eager returned.
        oracle: The same in float64.
        batched: Whether the first axis counts samples; otherwise the whole call is one.
    """
    rows = len(reference) if batched else 1
    exact = oracle.reshape(rows, -1)
    eager = reference.reshape(rows, -1)
    judged = np.isfinite(eager) & np.isfinite(exact)
    complete = bool(judged.all())
    error = np.abs(_difference(target.reshape(rows, -1), exact))
    to_eager = np.abs(_difference(target.reshape(rows, -1), eager))
    size = np.abs(exact)
    if not complete:
        error, to_eager, size = (np.where(judged, array, 0.0) for array in (error, to_eager, size))
    count = np.maximum(judged.sum(axis=1), 1)
    squares, noise = np.square(size).sum(axis=1), np.square(error).sum(axis=1)
    return Rows(
        rms=np.sqrt(noise / count),
        peak=error.max(axis=1, initial=0.0),
        scale_rms=np.sqrt(squares / count),
        scale_peak=size.max(axis=1, initial=0.0),
        to_eager=to_eager.max(axis=1, initial=0.0),
        signal=float(squares.sum()),
        noise=float(noise.sum()),
    )


def _difference(one: Array, other: Array) -> Floats:
    with np.errstate(invalid="ignore", over="ignore"):
        wide = np.complex128 if "c" in (one.dtype.kind, other.dtype.kind) else np.float64
        difference: Floats = one.astype(wide) - other.astype(wide)
        return difference


def _divide(error: Floats, scale: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = np.where(error == 0, 0.0, error / scale)
        return np.where(np.isnan(ratio), np.inf, ratio)
