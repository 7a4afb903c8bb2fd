"""What is kept fits a budget, in the model's dtype, and is found again by sample."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parity.golden.files import FACTS, OUTPUTS, read_golden
from parity.golden.kept import keep, kept_parts, kept_positions
from parity.golden.record import Golden
from parity.golden.recording import record_golden

from . import made


def _recorded(tmp_path: Path, bench: made.MadeBench) -> Golden:
    folder = tmp_path / "golden" / "net"
    record_golden(made.report(bench), bench, folder)
    assert sum((folder / name).stat().st_size for name in (FACTS, OUTPUTS)) < 1_000_000
    return read_golden(folder)


def test_every_sample_is_kept_where_all_fit(tmp_path: Path) -> None:
    oracle = made.logits(n=20)
    golden = _recorded(tmp_path, made.bench(tmp_path, {"y": oracle}))
    assert golden.kept == tuple(range(20))
    parts = kept_parts(golden, "y")
    assert all(np.array_equal(parts[i], oracle[i].astype(np.float32)) for i in range(20))
    assert list(golden.tensors) == ["y@0"]
    assert golden.tensors["y@0"].dtype == np.float32


def test_only_the_first_samples_are_kept_where_the_budget_ends(tmp_path: Path) -> None:
    bench = made.bench(tmp_path, {"y": made.logits(n=12, classes=20_000)})
    assert _recorded(tmp_path, bench).kept == tuple(range(7))


def test_many_small_samples_count_with_what_lists_them(tmp_path: Path) -> None:
    golden = _recorded(tmp_path, made.bench(tmp_path, {"y": made.logits(n=6000, classes=1)}))
    assert 1000 < len(golden.kept) < 6000


@pytest.mark.parametrize("batched", [True, False])
def test_ragged_shapes_are_stacked_where_they_agree(tmp_path: Path, *, batched: bool) -> None:
    rng = np.random.default_rng(0)
    oracle: list[Any] = [rng.normal(size=(length, 3)) for length in (2, 2, 5, 2, 5, 5)]
    golden = _recorded(tmp_path, made.bench(tmp_path, {"y": oracle}, batched=batched))
    assert {key: len(array) for key, array in golden.tensors.items()} == {"y@0": 2, "y@2": 1, "y@3": 1, "y@4": 2}
    parts = kept_parts(golden, "y")
    assert all(np.array_equal(parts[i], oracle[i].astype(np.float32)) for i in range(6))


def test_one_sample_that_alone_is_too_large_is_left_out(tmp_path: Path) -> None:
    oracle: list[Any] = [np.ones(400_000), np.ones(10), np.ones(10)]
    assert _recorded(tmp_path, made.bench(tmp_path, {"y": oracle})).kept == (1, 2)


def test_where_no_sample_fits_a_seeded_subset_of_the_first_is_kept(tmp_path: Path) -> None:
    oracle = [array.reshape(2, -1) for array in made.logits(n=2, classes=500_000)]
    bench = made.bench(tmp_path, {"y": oracle, "small": made.logits(n=2)})
    golden = _recorded(tmp_path, bench)
    assert golden.kept == (0,)
    assert golden.subset["y"].shape == (2, 250_000)
    places = kept_positions(golden, "y")
    assert places is not None
    assert len(places) == golden.subset["y"].positions > 10_000
    assert np.array_equal(kept_parts(golden, "y")[0], oracle[0].reshape(-1)[places].astype(np.float32))
    assert kept_positions(golden, "small") is None
    again = keep(bench.made).tensors
    assert all(np.array_equal(again[key], golden.tensors[key]) for key in golden.tensors)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "bool", "complex64", "complex128"])
def test_dtypes_are_kept(tmp_path: Path, dtype: str) -> None:
    oracle: list[Any] = [array + 1j if dtype.startswith("complex") else 9 * array for array in made.logits(n=3)]
    golden = _recorded(tmp_path, made.bench(tmp_path, {"y": oracle}, dtypes={"y": dtype}))
    part = kept_parts(golden, "y")[2]
    assert part.dtype == np.dtype(dtype)
    assert np.array_equal(part, oracle[2].astype(dtype))


def test_a_name_with_a_separator_is_found_again(tmp_path: Path) -> None:
    golden = _recorded(tmp_path, made.bench(tmp_path, {"head@0": made.logits(3), "head": made.logits(3, seed=1)}))
    assert not np.array_equal(kept_parts(golden, "head")[1], kept_parts(golden, "head@0")[1])


def test_an_output_without_a_batch_axis_is_named_with_the_reason(tmp_path: Path) -> None:
    bench = made.bench(tmp_path, {"y": made.logits(), "total": made.logits()}, whole=["total"])
    golden = _recorded(tmp_path, bench)
    assert list(golden.outputs) == ["y"]
    assert "batch axis" in golden.unkept["total"]


def test_the_budget_is_what_is_asked_for(tmp_path: Path) -> None:
    bench = made.bench(tmp_path, {"y": made.logits(n=50)})
    assert len(keep(bench.made, budget=2_700).samples) == 10
    assert keep(replace(bench.made, digests=bench.made.digests[:3])).samples == (0, 1, 2)
