"""A cell's verdict follows from its findings, and from what they can be held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from parity.cells import Cell, Reference, judge_cell
from parity.models.spec import Limits
from parity.records import Record, Stage, Symptom, Verdict
from tests.compare.cases import Case, case, rounded, store

RNG = np.random.default_rng(5)
EXACT = RNG.standard_normal((40, 7))
SWEPT = EXACT[:2]


@pytest.fixture
def made(tmp_path: Path) -> Case:
    """One output that scores seven classes for 40 samples, and batch size 2."""
    eager = rounded(EXACT, "float32", RNG)
    return case(tmp_path, [eager], [EXACT], sweep={2: (rounded(SWEPT, "float32", RNG), SWEPT)})


def judge(made: Case, exact: Array, *, unstable: str | None = None, failed: Mapping[str, str] | None = None,
          precision: str = "float", synthetic: bool = False, limits: Limits | None = None) -> Record:  # fmt: skip
    target = {"h0": {"y": rounded(exact, "float32", RNG)}, "s2": {"y": rounded(SWEPT, "float32", RNG)}}
    cell = Cell(
        target="trace@torchscript",
        precision=precision,
        limits=limits or Limits(),
        calls=made.calls,
        outputs=store(made.folder, target),
        failed=failed or {},
        labels=None,
        synthetic=synthetic,
    )
    return judge_cell(cell, Reference(replace(made.facts, unstable=unstable), made.arrays, made.yardsticks))


def test_a_target_that_only_rounds_otherwise_passes(made: Case) -> None:
    record = judge(made, EXACT)
    assert (record.verdict, record.stage, record.symptom, record.message) == (
        Verdict.PASS, Stage.DONE, Symptom.OK, "",
    )  # fmt: skip


def test_a_target_that_is_a_thousandth_off_fails_where_it_is_compared(made: Case) -> None:
    record = judge(made, EXACT * 1.001)
    assert (record.verdict, record.stage, record.symptom) == (Verdict.FAIL, Stage.COMPARE, Symptom.MISMATCH)
    assert "floors" in record.message


def test_against_a_reference_that_differs_from_itself_nothing_passes_and_nothing_fails(made: Case) -> None:
    for exact in (EXACT, EXACT * 2):
        record = judge(made, exact, unstable="dropout")
        verdicts = [each.verdict for each in record.numeric] + [each.verdict for each in record.shapes]
        verdicts += [each.verdict for each in record.decisions if each.verdict]
        assert set(verdicts) == {Verdict.INCONCLUSIVE}
        assert record.verdict is Verdict.INCONCLUSIVE
        assert record.message == "the reference is not deterministic: dropout"


def test_a_held_out_call_that_raised_fails_where_it_ran_with_its_line(made: Case) -> None:
    record = judge(made, EXACT, failed={"h0": "RuntimeError: size"})
    assert (record.verdict, record.stage, record.symptom) == (Verdict.FAIL, Stage.RUN, Symptom.EXCEPTION)
    assert record.message == "a call of 40 samples: RuntimeError: size"
    assert not record.numeric


def test_random_inputs_do_not_pass_a_quantized_target_and_do_a_float_one(made: Case) -> None:
    assert judge(made, EXACT, synthetic=True).verdict is Verdict.PASS
    lenient = Limits(agreement=0.5)
    record = judge(made, EXACT, precision="int8", synthetic=True, limits=lenient)
    assert record.verdict is Verdict.INCONCLUSIVE
    assert "give --samples" in record.message
    assert judge(made, EXACT, precision="int8", limits=lenient).verdict is Verdict.PASS


def test_a_quantized_batch_size_is_held_to_nothing_where_the_held_out_calls_failed(made: Case) -> None:
    record = judge(made, EXACT, precision="int8", failed={"h0": "RuntimeError: size"})
    assert [(shape.batch, shape.ratio, shape.verdict) for shape in record.shapes] == [(2, None, Verdict.PASS)]
