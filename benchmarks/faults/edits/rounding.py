"""Float32 arrays rounded to what fewer bits or digits hold, as float32."""

from __future__ import annotations

import numpy as np

from benchmarks.faults.graph import Values

_DIGITS = 3
_INT8 = 127
_BFLOAT16_DROPPED = 16


def through_float16(values: Values) -> Values:
    """Rounded to the nearest half-precision number."""
    return values.astype(np.float16).astype(np.float32)


def through_bfloat16(values: Values) -> Values:
    """Rounded to the upper 16 bits, to nearest and to even on a tie."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    half = np.uint32((1 << (_BFLOAT16_DROPPED - 1)) - 1) + ((bits >> np.uint32(_BFLOAT16_DROPPED)) & np.uint32(1))
    kept = (bits + half) >> np.uint32(_BFLOAT16_DROPPED) << np.uint32(_BFLOAT16_DROPPED)
    rounded: Values = kept.view(np.float32)
    return rounded


def through_int8(values: Values) -> Values:
    """Rounded to 127 steps up to the largest magnitude: symmetric, one scale for the tensor."""
    scale = np.abs(values).max() / _INT8
    return (np.rint(values / scale) * scale).astype(np.float32) if scale else values


def to_digits(values: Values) -> Values:
    """Rounded to three significant decimal digits."""
    wide = np.asarray(values, dtype=np.float64)
    exponent = np.floor(np.log10(np.where(wide == 0, 1.0, np.abs(wide))))
    unit = 10.0 ** (exponent - (_DIGITS - 1))
    return (np.rint(wide / unit) * unit).astype(np.float32)
