"""The errors of a call by the formulas as they are written down, and arrays to hold implementations against them."""

from __future__ import annotations

import numpy as np

from parity.arrays import Array
from parity.compare.errors import Rows


def plainly(target: Array, reference: Array, oracle: Array, *, batched: bool) -> Rows:
    """The formulas as they are written down, over whole arrays."""
    rows = len(reference) if batched else 1
    wide = np.complex128 if reference.dtype.kind == "c" else np.float64
    whole = (rows, reference.size // max(rows, 1))
    ours, eager, exact = (each.reshape(whole).astype(wide) for each in (target, reference, oracle))
    judged = np.isfinite(eager) & np.isfinite(exact)
    with np.errstate(all="ignore"):
        error, apart, size = (np.where(judged, np.abs(each), 0.0) for each in (ours - exact, ours - eager, exact))
        wrong = (np.isnan(ours) != np.isnan(eager)) | (
            (np.isinf(ours) | np.isinf(eager)) & (ours != eager) & ~np.isnan(ours) & ~np.isnan(eager)
        )
        count = np.maximum(judged.sum(axis=1), 1)
        signal, noise = np.square(size).sum(axis=1), np.square(error).sum(axis=1)
        return Rows(
            rms=np.sqrt(noise / count), peak=error.max(axis=1, initial=0), scale_rms=np.sqrt(signal / count),
            scale_peak=size.max(axis=1, initial=0), to_eager=apart.max(axis=1, initial=0),
            signal=float(signal.sum()), noise=float(noise.sum()), misplaced=int(wrong.sum()),
            first_misplaced=int(np.argmax(wrong)) if wrong.any() else None,
        )  # fmt: skip


def assert_same(found: Rows, expected: Rows, *, apart: float = 1e-12) -> None:
    for name in ("rms", "peak", "scale_rms", "scale_peak", "signal", "noise"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, err_msg=name)
    np.testing.assert_allclose(found.to_eager, expected.to_eager, rtol=apart)
    assert (found.misplaced, found.first_misplaced) == (expected.misplaced, expected.first_misplaced)


def drawn(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Target, reference and oracle of a model that returns `dtype`."""
    exact: Array = rng.standard_normal(shape) * 100
    if np.dtype(dtype).kind == "c":
        exact = np.add(exact, 1j * rng.standard_normal(shape))
    unit = float(np.finfo(dtype).eps)
    return (
        np.asarray(np.multiply(exact, 1 + unit * rng.uniform(-9, 9, shape))).astype(dtype),
        np.asarray(np.multiply(exact, 1 + unit * rng.uniform(-1, 1, shape))).astype(dtype),
        np.asarray(exact),
    )
