"""Inputs that a signature excludes: near what it allows, few, and each of them really excluded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from parity.errors import SampleError
from parity.models.signature import Signature, parse_signature
from parity.samples.excluded import MAX_EXCLUDED, Excluded, plan_excluded
from parity.samples.store import StoredSamples, write_made, write_samples


def planned(
    folder: Path, specs: Sequence[str], **sample: Array
) -> tuple[tuple[Excluded, ...], StoredSamples, Signature]:
    signature = parse_signature(specs)
    write_samples(folder, [sample], signature, None, "here")
    calls, made = plan_excluded(StoredSamples(folder, signature), signature, first=1)
    write_made(folder, made, 1)
    return calls, StoredSamples(folder, signature), signature


IMAGE = np.ones((3, 8, 8), np.float32)


def test_a_channel_more_and_a_single_one_that_broadcasting_would_hide(tmp_path: Path) -> None:
    calls, stored, _ = planned(tmp_path, ["image: float32[N, 3, 8, 8]"], image=IMAGE)
    assert [each.name for each in calls] == ["image [2, 4, 8, 8]", "image [2, 1, 8, 8]"]
    assert [stored.batch(each.call.samples)["image"].shape for each in calls] == [(2, 4, 8, 8), (2, 1, 8, 8)]


def test_sizes_beyond_a_bound_and_between_two_steps(tmp_path: Path) -> None:
    specs = ["tokens: int64[N in 1..4, T in 2..16] in 0..9", "lengths: int64[N] in 1..T"]
    calls, stored, _ = planned(tmp_path, specs, tokens=np.arange(5), lengths=np.asarray(5))
    assert [each.name for each in calls] == [
        "tokens [5, 5], lengths [5]", "tokens [2, 1], lengths [2]", "tokens [2, 17], lengths [2]"
    ]  # fmt: skip
    assert stored.batch(calls[1].call.samples)["lengths"].max() <= 1
    stepped, _, _ = planned(tmp_path / "step", ["image: float32[N, 3, H step 8, 8]"], image=IMAGE)
    assert "image [2, 3, 9, 8]" in [each.name for each in stepped]


@pytest.mark.parametrize("specs", [["image: float32[N, 3, H in 8..16 step 8, 8]"], ["image: float32[3, H in 2..9, 8]"]])
def test_every_one_of_them_is_excluded_and_they_are_few(tmp_path: Path, specs: list[str]) -> None:
    calls, stored, signature = planned(tmp_path, specs, image=IMAGE)
    assert 2 < len(calls) <= MAX_EXCLUDED
    for each in calls:
        with pytest.raises(SampleError):
            signature.check(stored[each.call.samples[0]], "here")


def test_a_signature_that_excludes_nothing_near_has_none(tmp_path: Path) -> None:
    assert planned(tmp_path, ["tokens: int64[N, T] in 0..9"], tokens=np.arange(5))[0] == ()
