"""Each rule has a fault that it catches and a healthy twin that it lets through."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.gates.numeric import judge_numeric, judge_shape
from parity.models.spec import Limits
from parity.records import NumericFinding, ShapeFinding, Symptom, Verdict
from tests.compare.cases import case, rounded

LIMITS = Limits(ratio=10)


def floats(**changes: object) -> NumericFinding:
    facts = {
        "output": "y", "rule": "floor", "error": 1e-6, "floor": 1e-6, "ratio": 1.0, "allowance": 0.0,
        "measure": "rms/sample", "max_abs": 1e-6, "worst_sample": 4, "n": 8,
    }  # fmt: skip
    return NumericFinding(**{**facts, **changes})  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize("rule", ["floor", "reordering"])
@pytest.mark.parametrize(("ratio", "verdict"), [(0.0, "pass"), (10.0, "pass"), (10.01, "fail"), (float("inf"), "fail")])
def test_a_float_output_is_held_against_the_limit_in_floors(rule: str, ratio: float, verdict: str) -> None:
    result = judge_numeric(floats(rule=rule, ratio=ratio), LIMITS, "float")
    assert (result.verdict.value, result.limit) == (verdict, 10)


def test_a_ratio_that_is_no_number_fails() -> None:
    finding = floats(ratio=float("nan"), error=float("nan"))
    assert judge_numeric(finding, LIMITS, "float").verdict is Verdict.FAIL


def test_a_failure_puts_error_floor_ratio_and_limit_beside_each_other() -> None:
    result = judge_numeric(floats(ratio=24.0, error=2.4e-5), LIMITS, "float")
    assert result.message == ("y: error 2.4e-05 is 24 floors of 1e-06, 10 are allowed (rms/sample, worst in sample 4)")


def test_what_a_long_sum_may_cost_passes_whatever_its_ratio() -> None:
    assert judge_numeric(floats(ratio=50.0, error=2e-5, allowance=2e-5), LIMITS, "float").verdict is Verdict.PASS
    assert judge_numeric(floats(ratio=50.0, error=2.1e-5, allowance=2e-5), LIMITS, "float").verdict is Verdict.FAIL


def test_agreement_with_a_constant_reference_decides_nothing_and_disagreement_fails() -> None:
    for precision in ("float", "int8"):
        result = judge_numeric(floats(constant=True), LIMITS, precision)
        assert result.verdict is Verdict.INCONCLUSIVE
        assert result.message is not None
    assert judge_numeric(floats(constant=True, ratio=99.0), LIMITS, "float").verdict is Verdict.FAIL


def test_a_large_difference_to_an_ill_conditioned_reference_decides_nothing_and_a_small_one_passes() -> None:
    result = judge_numeric(floats(good_to=3e-3, apart=2e-3), LIMITS, "float")
    assert (result.verdict, result.limit) == (Verdict.INCONCLUSIVE, 10)
    assert result.message is not None
    assert result.message.startswith("y: eager itself is good to 0.003 here, the target to 1e-06, and they differ by")
    assert judge_numeric(floats(good_to=3e-3), LIMITS, "float").verdict is Verdict.PASS


def test_beyond_the_limit_an_ill_conditioned_reference_is_no_excuse() -> None:
    finding = floats(good_to=3e-3, apart=0.5, error=0.5, floor=3e-3, ratio=167.0)
    assert judge_numeric(finding, LIMITS, "float").verdict is Verdict.FAIL


@pytest.mark.parametrize("precision", ["float", "int8"])
@pytest.mark.parametrize("rule", ["missing", "extra", "dtype", "shape", "nonfinite"])
def test_a_structural_disagreement_fails_at_any_precision(rule: str, precision: str) -> None:
    result = judge_numeric(NumericFinding(output="y", rule=rule, detail="as told"), LIMITS, precision)
    assert (result.verdict, result.message) == (Verdict.FAIL, f"y: {rule}: as told")


@pytest.mark.parametrize("precision", ["float", "int8"])
@pytest.mark.parametrize(
    ("mismatched", "constant", "verdict"),
    [(0, None, "pass"), (1, None, "fail"), (0, True, "inconclusive"), (1, True, "fail")],
)
def test_integers_are_equal_or_fail(mismatched: int, verdict: str, precision: str, *, constant: bool | None) -> None:
    finding = NumericFinding(output="y", rule="exact", mismatched=mismatched, max_abs=3.0, n=8, constant=constant)
    result = judge_numeric(finding, LIMITS, precision)
    assert result.verdict.value == verdict
    if mismatched:
        assert result.message == "y: exact: 1 values differ, by 3 at most"


@pytest.mark.parametrize(
    ("sqnr", "limit", "verdict"),
    [(12.0, None, "skip"), (30.0, 20.0, "pass"), (20.0, 20.0, "pass"), (19.9, 20.0, "fail"), (None, 20.0, "pass")],
)
def test_a_quantized_output_is_held_against_its_noise_where_a_limit_is_set(
    sqnr: float | None, limit: float | None, verdict: str
) -> None:
    finding = floats(ratio=1e5, sqnr_db=sqnr)
    assert judge_numeric(finding, Limits(sqnr_db=limit), "int8").verdict.value == verdict


def test_the_finding_is_kept_as_it_was() -> None:
    finding = floats(ratio=99.0)
    result = judge_numeric(finding, LIMITS, "float")
    assert all(getattr(result, name) == value for name, value in vars(finding).items())


@pytest.mark.parametrize(
    ("finding", "verdict", "symptom"),
    [
        (ShapeFinding(batch=3, symptom=Symptom.OK), "pass", "ok"),
        (ShapeFinding(batch=3, symptom=Symptom.OK, output="y", error=1e-6, ratio=9.9), "pass", "ok"),
        (ShapeFinding(batch=3, symptom=Symptom.OK, output="y", error=1e-6, ratio=10.1), "fail", "mismatch"),
        (ShapeFinding(batch=3, symptom=Symptom.OK, output="y", error=1e-6, ratio=20.0, allowance=1e-6), "pass", "ok"),
        (ShapeFinding(batch=3, symptom=Symptom.MISMATCH, detail="y shape: [2], not [3]"), "fail", "mismatch"),
        (ShapeFinding(batch=3, symptom=Symptom.EXCEPTION, detail="RuntimeError: size"), "fail", "exception"),
    ],
)
def test_a_batch_size_ran_and_stayed_within_the_limit(finding: ShapeFinding, verdict: str, symptom: str) -> None:
    result = judge_shape(finding, LIMITS)
    assert (result.verdict.value, result.symptom.value) == (verdict, symptom)
    assert (result.message is None) == (verdict == "pass")


def test_a_batch_size_that_failed_says_which_and_why() -> None:
    result = judge_shape(ShapeFinding(batch=3, symptom=Symptom.EXCEPTION, detail="RuntimeError: size"), LIMITS)
    assert result.message == "exception: RuntimeError: size"


FAULTS = {
    "zeros": lambda y: y * 0,
    "off by one percent": lambda y: y * 1.01,
    "off by 1e-4 of its scale": lambda y: y * (1 + 1e-4),
    "rounded to three decimals": lambda y: y.round(3),
    "half precision inside": lambda y: y.astype("float16").astype("float32"),
    "two samples swapped": lambda y: y[[1, 0, *range(2, len(y))]],
    "two classes swapped": lambda y: y[:, [1, 0, *range(2, y.shape[1])]],
    "clipped": lambda y: y.clip(-0.5 * abs(y).max(), 0.5 * abs(y).max()),
    "one number of one sample": lambda y: y + 1e-3 * abs(y).max() * (abs(y) == abs(y).max()),
    "a constant added": lambda y: y + 1e-4 * abs(y).max(),
}


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_fails_and_its_healthy_twin_passes(tmp_path: Path, fault: str, scale: float) -> None:
    rng = np.random.default_rng(0)
    exact = rng.standard_normal((8, 10)) * scale
    made = case(tmp_path, [rounded(exact, "float32", rng)], [exact])
    healthy = rounded(exact, "float32", np.random.default_rng(1))
    assert judge_numeric(made.finding(healthy), LIMITS, "float").verdict is Verdict.PASS
    broken = np.asarray(FAULTS[fault](healthy), np.float32)
    if fault == "rounded to three decimals" and scale == 1e4:
        return  # below float32's own resolution there, and so no fault
    assert judge_numeric(made.finding(broken), LIMITS, "float").verdict is Verdict.FAIL


def exactly(mismatched: int, ties: int, detail: str | None = None) -> NumericFinding:
    return NumericFinding(output="y", rule="exact", mismatched=mismatched, ties=ties, max_abs=3.0, n=8, detail=detail)


def test_ties_alone_pass_and_the_message_says_how_many() -> None:
    result = judge_numeric(exactly(0, 4), Limits(), "float")
    assert (result.verdict, result.message) == (
        Verdict.PASS,
        "y: 4 values differ where the reference has no defined answer",
    )
    most = judge_numeric(exactly(0, 4, "6 of 8 places have no defined answer"), Limits(), "float")
    assert most.message == f"{result.message}; 6 of 8 places have no defined answer"


def test_a_mismatch_beside_ties_fails() -> None:
    result = judge_numeric(exactly(1, 4), Limits(), "float")
    assert result.verdict is Verdict.FAIL
    assert "1 values differ, by 3 at most, and 4 values differ where the reference has no" in (result.message or "")


def test_integers_of_a_quantized_target_are_left_to_its_decisions_where_they_are_some() -> None:
    assert judge_numeric(exactly(1, 0), Limits(), "int8", decided=True).verdict is Verdict.SKIP
    assert judge_numeric(exactly(1, 0), Limits(), "int8").verdict is Verdict.FAIL
    assert judge_numeric(exactly(1, 0), Limits(), "float", decided=True).verdict is Verdict.FAIL


def in_set(mismatched: int, ties: int | None = None) -> NumericFinding:
    return NumericFinding(
        output="boxes", rule="matched", error=1e-7, floor=1e-7, ratio=1.0, mismatched=mismatched, ties=ties, n=8,
        detail=f"{mismatched} of 90 boxes are on one side only" if mismatched else None,
    )  # fmt: skip


def test_a_box_on_one_side_only_fails_a_float_target_and_a_tie_does_not() -> None:
    lost = judge_numeric(in_set(1), Limits(), "float")
    assert (lost.verdict, lost.message) == (Verdict.FAIL, "boxes: 1 of 90 boxes are on one side only")
    assert judge_numeric(in_set(0), Limits(), "float").verdict is Verdict.PASS
    tied = judge_numeric(in_set(0, 3), Limits(), "float")
    assert (tied.verdict, tied.message) == (Verdict.PASS, "boxes: 3 boxes are on one side only where rounding decides")
    assert judge_numeric(in_set(1), Limits(), "int8").verdict is Verdict.SKIP
    assert judge_numeric(in_set(1), Limits(), "float16").verdict is Verdict.PASS
