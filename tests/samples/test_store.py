from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from parity.errors import SampleError
from parity.models.signature import Signature, parse_signature
from parity.samples.store import SampleSet, StoredSamples, check_disjoint, write_samples

SIGNATURE = parse_signature(["x: float32[N, T in 1..9]", "n: int64[N]"])


def sample(value: float, length: int = 3) -> dict[str, Array]:
    return {"n": np.asarray(int(value)), "x": np.full(length, value, np.float32)}


def write(
    folder: Path, *samples: dict[str, Array], labels: Array | None = None, signature: Signature = SIGNATURE
) -> SampleSet:
    return write_samples(folder, samples, signature, labels, "here")


def test_samples_come_back_as_they_were_written_in_the_order_of_forward(tmp_path: Path) -> None:
    write(tmp_path, sample(1), sample(2, 5))
    stored = StoredSamples(tmp_path, SIGNATURE)
    assert len(stored) == 2
    assert list(stored[1]) == ["x", "n"]
    np.testing.assert_array_equal(stored[1]["x"], sample(2, 5)["x"])


def test_equal_numbers_mean_that_samples_can_be_stacked(tmp_path: Path) -> None:
    assert write(tmp_path, sample(1), sample(2, 5), sample(3), sample(4, 5)).shapes == (0, 1, 0, 1)


def test_a_batch_is_stacked_along_a_leading_axis_and_may_be_written_to(tmp_path: Path) -> None:
    write(tmp_path, sample(1), sample(2), sample(3))
    stored = StoredSamples(tmp_path, SIGNATURE)
    batch = stored.batch([2, 0])
    np.testing.assert_array_equal(batch["n"], [3, 1])
    assert batch["x"].shape == (2, 3)
    batch["x"][:] = 0
    np.testing.assert_array_equal(stored.batch([2, 0])["x"][0], sample(3)["x"])


def test_without_a_batch_a_call_is_the_sample_and_may_be_written_to(tmp_path: Path) -> None:
    fixed = parse_signature("x: float32[3]")
    write(tmp_path, {"x": np.ones(3, np.float32)}, signature=fixed)
    stored = StoredSamples(tmp_path, fixed)
    batch = stored.batch([0])
    assert batch["x"].shape == (3,)
    batch["x"][:] = 0
    assert stored[0]["x"].any()


def test_the_digest_depends_on_every_number_and_on_the_order(tmp_path: Path) -> None:
    one, two, three = sample(1), sample(2), sample(1)
    three["x"][2] += np.float32(1e-6)
    digests = [
        write(tmp_path / str(number), *samples).sha256
        for number, samples in enumerate([(one, two), (two, one), (three, two), (one,), (one, two)])
    ]
    assert len(set(digests)) == 4
    assert digests[0] == digests[4]


def test_labels_are_kept_beside_the_samples(tmp_path: Path) -> None:
    assert write(tmp_path, sample(1), sample(2), labels=np.asarray([3, 4])).labelled
    found = StoredSamples(tmp_path, SIGNATURE).labels
    assert found is not None
    assert found.tolist() == [3, 4]
    write(tmp_path / "without", sample(1))
    assert StoredSamples(tmp_path / "without", SIGNATURE).labels is None


def test_a_sample_that_does_not_fit_names_its_number(tmp_path: Path) -> None:
    with pytest.raises(SampleError) as caught:
        write(tmp_path, sample(1), sample(1, 10))
    assert caught.value.where == "here, sample 1, input 'x'"
    assert not (tmp_path / "samples.json").exists()


def test_no_sample_at_all_and_too_few_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match="not one sample"):
        write(tmp_path)
    with pytest.raises(SampleError, match="not as many labels as samples") as caught:
        write(tmp_path, sample(1), sample(2), labels=np.asarray([3]))
    assert (caught.value.got, caught.value.allowed) == ("1 labels", "2")
    assert not (tmp_path / "samples.json").exists()


def test_calibration_on_a_held_out_sample_is_refused_and_disjoint_sets_are_let_through(tmp_path: Path) -> None:
    held_out = write(tmp_path / "a", sample(1), sample(2), sample(3))
    check_disjoint(held_out, write(tmp_path / "b", sample(4), sample(5)), "m")
    with pytest.raises(SampleError, match=r"^2 held-out samples are also among .*the first is 1") as caught:
        check_disjoint(held_out, write(tmp_path / "c", sample(3), sample(9), sample(2)), "m")
    assert caught.value.hint is not None


def test_digests_read_like_a_tuple_of_texts_and_are_those_that_were_written(tmp_path: Path) -> None:
    written = write(tmp_path, sample(1), sample(2), sample(1)).digests
    texts = list(StoredSamples(tmp_path, SIGNATURE).digests)
    assert [len(text) for text in texts] == [64] * 3
    assert (texts[0], texts[-1]) == (written[2], written[-3])
    assert texts[0] != texts[1] == written[1]
    assert list(written[1:]) == texts[1:]
    with pytest.raises(IndexError):
        _ = written[3]
