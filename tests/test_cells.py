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
from parity.records import BehaviourFinding, Record, Stage, Symptom, Verdict
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
          precision: str = "float", synthetic: bool = False, limits: Limits | None = None,
          observed: tuple[BehaviourFinding, ...] = ()) -> Record:  # fmt: skip
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
        observed=observed,
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


DOUBTFUL = BehaviourFinding(kind="matched", name="inputs", detail="'a' and 'b' may be exchanged")


def test_a_doubtful_match_stands_in_the_message_of_a_failure(made: Case) -> None:
    record = judge(made, EXACT * 1.001, observed=(DOUBTFUL,))
    assert record.message.endswith("; 'a' and 'b' may be exchanged")
    broken = judge(made, EXACT, failed={"h0": "Invalid rank"}, observed=(DOUBTFUL,))
    assert broken.message.endswith("Invalid rank; 'a' and 'b' may be exchanged")


def test_a_refused_size_is_put_down_to_the_dimension_that_became_a_constant(made: Case) -> None:
    constant = BehaviourFinding(kind="constant_dimension", name="input x", detail="N became the constant 1")
    record = judge(made, EXACT, failed={"h0": "Got invalid dimensions"}, observed=(constant,))
    assert record.message == "input x: N became the constant 1: a call of 40 samples: Got invalid dimensions"
    healthy = replace(constant, name="N", detail=None)
    record = judge(made, EXACT, failed={"h0": "Got invalid dimensions"}, observed=(healthy,))
    assert record.message == "a call of 40 samples: Got invalid dimensions"


def test_a_doubtful_match_that_the_numbers_confirm_is_no_fault(made: Case) -> None:
    record = judge(made, EXACT, observed=(DOUBTFUL,))
    assert (record.verdict, record.message) == (Verdict.PASS, "")
    assert [each.verdict for each in record.behaviour if each.kind == "matched"] == [None]


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


def chosen(folder: Path, precision: str, *, flips: int, swept: int = 0) -> Record:
    """A target that returns a class for each of 400 samples, of which so many are others than the reference's."""
    ours = np.random.default_rng(0).integers(0, 5, 400)
    theirs, batch = ours.copy(), ours[:2].copy()
    theirs[:flips] = (theirs[:flips] + 1) % 5
    batch[:swept] = (batch[:swept] + 1) % 5
    made = case(folder, [ours], sweep={2: (ours[:2], ours[:2])})
    cell = Cell(
        target="trace@torchscript", precision=precision, limits=Limits(), calls=made.calls,
        outputs=store(folder, {"h0": {"y": theirs}, "s2": {"y": batch}}), failed={}, labels=None, synthetic=False,
    )  # fmt: skip
    return judge_cell(cell, Reference(made.facts, made.arrays, made.yardsticks))


def test_classes_of_a_quantized_target_may_flip_now_and_then_and_those_of_a_float_one_may_not(tmp_path: Path) -> None:
    assert chosen(tmp_path, "int8", flips=1, swept=1).verdict is Verdict.PASS
    assert chosen(tmp_path, "float", flips=1).verdict is Verdict.FAIL
    assert chosen(tmp_path, "float", flips=0, swept=1).verdict is Verdict.FAIL
    assert chosen(tmp_path, "float", flips=0).verdict is Verdict.PASS
    worse = chosen(tmp_path, "int8", flips=40)
    assert worse.verdict is Verdict.FAIL
    assert "top-1 agreement is 0.9000" in worse.message


def test_a_quantized_target_without_any_decision_is_open_and_told_what_would_decide(tmp_path: Path) -> None:
    made = case(tmp_path, [rounded(EXACT, "float32", RNG)], [EXACT], decision=(("y", "none"),))
    record = judge(made, EXACT, precision="int8")
    assert record.verdict is Verdict.INCONCLUSIVE
    assert record.message == (
        "no output stands for a decision: name one with `decision` (`binary` for a score with a threshold), "
        "or set limits.sqnr_db to judge it by its noise"
    )


def test_an_embedding_decides_about_a_quantized_target(tmp_path: Path) -> None:
    sweep = {2: (rounded(SWEPT, "float32", RNG), SWEPT)}
    made = case(tmp_path, [rounded(EXACT, "float32", RNG)], [EXACT], sweep=sweep, decision=(("y", "embedding"),))
    lenient = Limits(neighbours=0.8)
    assert judge(made, EXACT * 1.001, precision="int8", limits=lenient).verdict is Verdict.PASS
    turned = judge(made, np.roll(EXACT, 1, axis=1), precision="int8", limits=lenient)
    assert turned.verdict is Verdict.FAIL
    assert "mean cosine similarity" in turned.message


def test_random_inputs_are_enough_to_fail_a_quantized_target(made: Case) -> None:
    assert judge(made, -EXACT, precision="int8", synthetic=True).verdict is Verdict.FAIL
