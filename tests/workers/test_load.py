from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from parity.errors import ModelError, SampleError
from parity.models.signature import parse_signature
from parity.samples.store import StoredSamples
from parity.workers import load as load_module
from parity.workers.load import load
from tests.workers import models
from tests.workers.models import spec


def test_the_model_and_the_samples_are_described_and_the_samples_written(tmp_path: Path) -> None:
    made = spec(models.Plain, labels="labels", calibration="others")
    loaded = load(made, tmp_path, (1, 4))
    assert loaded.model.parameters == 6 * 32 + 32 + 32 * 300 + 300
    assert loaded.model.inputs == ("x: float32[N, 6]",)
    assert (loaded.samples.n, loaded.samples.labelled, loaded.samples.synthetic) == (20, True, False)
    assert loaded.samples.calibration_n == 9
    assert [call.sweep for call in loaded.calls if call.sweep] == [1, 4, 3]
    assert len(StoredSamples(tmp_path / load_module.HELD_OUT, made.signature)) == 20


def test_without_samples_they_are_synthetic_and_said_to_be(tmp_path: Path) -> None:
    loaded = load(spec(models.Plain, None), tmp_path, (1,))
    assert loaded.samples.synthetic
    assert loaded.samples.source == "synthetic"


def test_calibration_on_held_out_samples_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match="1 held-out samples are also among the calibration samples"):
        load(spec(models.Plain, calibration="overlapping"), tmp_path, (1,))


def test_a_fault_in_the_calibration_samples_is_told_from_one_in_the_others(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match=r"^calibration: the samples have another dtype"):
        load(spec(models.Plain, calibration="wrong_kind"), tmp_path, (1,))


def test_batch_sizes_that_the_signature_rules_out_are_not_called(tmp_path: Path) -> None:
    bounded = replace(spec(models.Plain), signature=parse_signature("x: float32[N in 1..4, 6]"))
    loaded = load(bounded, tmp_path, (1, 4, 5, 32))
    assert [call.sweep for call in loaded.calls if call.sweep] == [1, 4, 3]
    assert max(len(call.samples) for call in loaded.calls) == 4
    assert loaded.left_out == (5, 32)


def test_other_symbols_are_swept_on_samples_that_lie_beside_the_held_out_ones(tmp_path: Path) -> None:
    made = replace(spec(models.Plain), signature=parse_signature("x: float32[N, T in 1..200]"))
    loaded = load(made, tmp_path, (1,))
    assert {dict(call.sizes)["T"] for call in loaded.calls if call.sizes} >= {1, 2, 64}
    assert loaded.samples.n == 20
    assert loaded.samples.notes == ("T=200, the bound, is more than 8 times any sample: not run",)


def test_a_change_of_weights_or_samples_changes_what_an_export_depends_on(tmp_path: Path) -> None:
    one, few, other = (
        load(made, tmp_path / str(number), (1,))
        for number, made in enumerate([spec(models.Plain), spec(models.Plain, "others"), spec(models.Scalar)])
    )
    assert one.example_sha256 != few.example_sha256
    assert one.model.weights_sha256 == few.model.weights_sha256 == other.model.weights_sha256
    assert load(spec(models.Plain), tmp_path / "again", (1,)) == one


def test_a_factory_that_is_not_there_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="has no 'Missing'"):
        load(spec(models.Plain, factory="Missing"), tmp_path, (1,))


def test_labels_without_samples_are_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match=r"there are none(.|\n)*--samples"):
        load(spec(models.Plain, None, labels="labels"), tmp_path, (1,))
