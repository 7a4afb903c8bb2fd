"""What comparing keeps of a sample is its errors, whatever the size of its outputs."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from parity.compare.floor import measure_floor
from parity.compare.numeric import compare_held_out
from tests.compare.cases import case, rounded, store

NUMBERS = 2000
KEPT = 1000
"""Bytes a sample, whose outputs take 8,000 or 16,000: a call's errors in five small arrays, and its line in lists."""


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_the_floor_and_the_findings_take_no_more_memory_for_more_samples(tmp_path: Path, dtype: str) -> None:
    def peak(calls: int) -> int:
        folder, rng = tmp_path / str(calls), np.random.default_rng(0)
        exact = [rng.standard_normal((8, NUMBERS)) * 100 for _ in range(calls)]
        made = [rounded(each, "float32", rng) if dtype == "float32" else each.astype(dtype) for each in exact]
        reference = case(folder, made, exact if dtype == "float32" else None)
        target = store(folder, {f"h{number}": {"y": each} for number, each in enumerate(made)})
        del exact, made
        tracemalloc.start()
        try:
            yardsticks = measure_floor(reference.facts, reference.arrays, reference.calls)
            compare_held_out(target, reference.arrays, yardsticks, reference.calls)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few, many = peak(10), peak(60)
    assert many - few < 8 * 50 * KEPT
