"""The kinds of faults, one module for each sort of place that they are planted in."""

from __future__ import annotations

from benchmarks.faults.edits import activations, constants, inputs, norms, quantization, weights, windows
from benchmarks.faults.edits.kinds import Kind

KINDS: tuple[Kind, ...] = (
    *norms.KINDS,
    *activations.KINDS,
    *windows.KINDS,
    *weights.KINDS,
    *constants.KINDS,
    *inputs.KINDS,
    *quantization.KINDS,
)
"""Every kind of fault; their names are unique."""
