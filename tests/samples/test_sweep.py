"""The calls of a run, over samples as they are stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from parity.models.signature import Signature, parse_signature
from parity.samples.fitting import Sample
from parity.samples.store import StoredSamples, write_made, write_samples
from parity.samples.sweep import Sweep, plan_sweep

TOKENS = parse_signature(["tokens: int64[N, T in 1..16] in 0..9", "lengths: int64[N] in 1..T"])


def tokens(*lengths: int) -> list[Sample]:
    rng = np.random.default_rng(0)
    return [{"tokens": rng.integers(0, 10, length), "lengths": np.asarray(length)} for length in lengths]


def planned(
    folder: Path, samples: list[Sample], signature: Signature = TOKENS, asked: tuple[int, ...] = (1, 2, 8)
) -> tuple[Sweep, StoredSamples]:
    write_samples(folder, samples, signature, None, "here")
    sweep = plan_sweep(StoredSamples(folder, signature), signature, asked, largest=20)
    write_made(folder, sweep.made, len(samples))
    return sweep, StoredSamples(folder, signature)


def test_every_call_of_other_sizes_can_be_stacked_and_fits_the_signature(tmp_path: Path) -> None:
    sweep, stored = planned(tmp_path, tokens(4, 5, 6, 5))
    sized = [call for call in sweep.calls if call.sizes]
    assert {dict(call.sizes)["T"] for call in sized} >= {1, 2, 16}
    for call in sized:
        inputs = stored.batch(call.samples)
        assert inputs["tokens"].shape == (call.sweep, dict(call.sizes)["T"])
        assert inputs["lengths"].max() <= dict(call.sizes)["T"]
        for index in call.samples:
            TOKENS.check(stored[index], "here")


def test_made_samples_are_no_held_out_ones(tmp_path: Path) -> None:
    sweep, stored = planned(tmp_path, tokens(4, 5, 6, 5))
    assert len(stored) == len(stored.shapes) == len(stored.digests) == 4
    held_out = [index for call in sweep.calls if call.sweep is None for index in call.samples]
    assert sorted(held_out) == [0, 1, 2, 3]
    assert all(index < 4 for call in sweep.calls if not call.sizes for index in call.samples)


def test_where_a_held_out_sample_has_the_size_it_is_used_as_it_is(tmp_path: Path) -> None:
    sweep, _ = planned(tmp_path, tokens(1, 16))
    alone = {dict(call.sizes)["T"]: call.samples for call in sweep.calls if call.sizes and call.sweep == 1}
    assert (alone[1], alone[16]) == ((0,), (1,))


def test_without_a_batch_the_other_symbols_are_swept_all_the_same(tmp_path: Path) -> None:
    signature = parse_signature(["x: float32[T in 1..9, 4]", "y: float32[4]"])
    samples: list[Sample] = [{"x": np.ones((3, 4), np.float32), "y": np.ones(4, np.float32)}]
    sweep, stored = planned(tmp_path, samples, signature)
    sized = [call for call in sweep.calls if call.sweep is not None]
    assert {stored.batch(call.samples)["x"].shape for call in sized} >= {(1, 4), (9, 4)}
    assert all((call.sweep, len(call.samples)) == (1, 1) for call in sized)


def test_batch_sizes_that_the_signature_rules_out_are_told(tmp_path: Path) -> None:
    signature = parse_signature("x: float32[N in 2..4, 3]")
    samples: list[Sample] = [{"x": np.ones(3, np.float32)}] * 5
    sweep, _ = planned(tmp_path, samples, signature, (1, 2, 8))
    assert sweep.left_out == (1, 8)
    assert [call.sweep for call in sweep.calls if call.sweep] == [2, 3, 4]
