"""What did not pass leaves its worst samples behind, with everything that is needed to look at them."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from parity.arrays import BFLOAT16, ArrayReader
from parity.cells import Cell, Reference
from parity.keeping import KEPT, keep_worst
from parity.models.signature import parse_signature
from parity.models.spec import Limits
from parity.records import NumericResult, Record, Stage, Symptom, Verdict
from parity.samples.store import StoredSamples, write_samples
from tests.compare.cases import Case, case, store

SIGNATURE = parse_signature("x: float32[N, 2]")
X = np.arange(10, dtype=np.float32).reshape(5, 2)
EAGER = np.arange(15, dtype=np.float32).reshape(5, 3)


@pytest.fixture
def made(tmp_path: Path) -> Case:
    write_samples(tmp_path / "samples", ({"x": row} for row in X), SIGNATURE, None, "here")
    return case(tmp_path, [EAGER[:3], EAGER[3:]])


@pytest.fixture
def target(made: Case) -> ArrayReader:
    return store(made.folder, {"h0": {"y": EAGER[:3] + 1, "more": np.float32(7)}, "h1": {"y": EAGER[3:] + 1}})


def keep(made: Case, target: ArrayReader, *results: NumericResult) -> tuple[str, ...]:
    stored = StoredSamples(made.folder / "samples", SIGNATURE)
    record = Record(target="a@b", verdict=Verdict.FAIL, stage=Stage.COMPARE, symptom=Symptom.MISMATCH, numeric=results)
    cell = Cell(
        target="a@b", precision="float", limits=Limits(), calls=made.calls, outputs=target, failed={}, labels=None,
        synthetic=False,
    )  # fmt: skip
    reference = Reference(made.facts, made.arrays, made.yardsticks)
    return keep_worst(record, cell, reference, stored, made.folder / "worst")


def result(sample: int | None, verdict: Verdict = Verdict.FAIL) -> NumericResult:
    return NumericResult(output="y", rule="floor", verdict=verdict, worst_sample=sample)


def test_the_worst_sample_of_what_failed_is_kept_with_inputs_and_every_output(made: Case, target: ArrayReader) -> None:
    (path,) = keep(made, target, result(4))
    assert Path(path).name == "sample-4.npz"
    with np.load(path) as held:
        assert set(held) == {"input.x", "eager.y", "oracle.y", "target.y"}
        np.testing.assert_array_equal(held["input.x"], X[4])
        np.testing.assert_array_equal(held["eager.y"], EAGER[4])
        np.testing.assert_array_equal(held["target.y"], EAGER[4] + 1)
        assert held["oracle.y"].dtype == np.float64


def test_what_has_no_batch_axis_is_kept_whole(made: Case, target: ArrayReader) -> None:
    (path,) = keep(made, target, result(1))
    with np.load(path) as held:
        assert held["target.more"] == 7


def test_what_passed_leaves_nothing_behind(made: Case, target: ArrayReader) -> None:
    assert keep(made, target, result(4, Verdict.PASS), result(None)) == ()
    assert not (made.folder / "worst").exists()


def test_a_sample_is_kept_once_and_no_more_than_a_few_are(made: Case, target: ArrayReader) -> None:
    paths = keep(made, target, *(result(sample) for sample in (2, 2, 0, 1, 3, 4)))
    assert [Path(path).name for path in paths] == ["sample-2.npz", "sample-0.npz", "sample-1.npz"]
    assert len(paths) == KEPT


def test_bfloat16_is_kept_as_the_float32_that_holds_it_and_nothing_is_complained_of(made: Case) -> None:
    halves = (EAGER + 1).astype(BFLOAT16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (path,) = keep(made, store(made.folder, {"h0": {"y": halves[:3]}, "h1": {"y": halves[3:]}}), result(4))
    with np.load(path) as held:
        np.testing.assert_array_equal(held["target.y"], EAGER[4] + 1)
