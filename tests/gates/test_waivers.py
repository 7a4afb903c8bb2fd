"""A failure without its waiver fails; the waiver holds until its day, and goes when it is not needed."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from parity.errors import SettingsError
from parity.gates.waivers import MAX_DAYS_AHEAD, Waiver, parts_of, rule, waived, waivers_of
from parity.records import (
    DecisionResult,
    LatencyResult,
    NumericResult,
    Record,
    ShapeResult,
    Stage,
    Symptom,
    Verdict,
    WaiverState,
)
from parity.settings import Settings, WaiverSettings

PASS, FAIL, OPEN, SKIP = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.SKIP
TODAY = dt.date(2026, 11, 30)
LAST_DAY = dt.date(2027, 1, 31)
TARGET = "onnx@onnxruntime"


def waiver(**changed: Any) -> Waiver:
    return Waiver(**{"target": TARGET, "reason": "mended in 2.15", "expires": LAST_DAY, **changed})


def numeric(verdict: Verdict, output: str = "logits") -> NumericResult:
    return NumericResult(output=output, rule="floor", verdict=verdict, message=None if verdict is PASS else "36 floors")


def shape(verdict: Verdict) -> ShapeResult:
    message = None if verdict is PASS else "raised"
    return ShapeResult(batch=3, symptom=Symptom.OK, verdict=verdict, message=message)


def decision(verdict: Verdict) -> DecisionResult:
    return DecisionResult(output="logits", metric="top1_agreement", value=0.9, verdict=verdict, message="agreement 0.9")


def latency(verdict: Verdict) -> LatencyResult:
    message = None if verdict is PASS else "2 times eager"
    return LatencyResult(
        batch=8, threads=1, median_ms=1.0, throughput=1.0, n=24, processes=2, verdict=verdict, message=message
    )


def cell(verdict: Verdict = PASS, stage: Stage = Stage.DONE, symptom: Symptom = Symptom.OK, **changed: Any) -> Record:
    return Record(**{"target": TARGET, "verdict": verdict, "stage": stage, "symptom": symptom, **changed})


HEALTHY = cell(numeric=(numeric(PASS), numeric(PASS, "boxes")), shapes=(shape(PASS),))
FAULTY = cell(
    FAIL, Stage.COMPARE, Symptom.MISMATCH, message="36 floors", numeric=(numeric(FAIL), numeric(PASS, "boxes"))
)
SLOW = cell(FAIL, Stage.TIME, Symptom.MISMATCH, message="batch 8: 2 times eager", numeric=(numeric(PASS),),
            latency=(latency(FAIL),))  # fmt: skip
CRASHED = cell(FAIL, Stage.RUN, Symptom.CRASH, message="killed by SIGSEGV")
UNDECIDED = cell(OPEN, message="too few", decisions=(decision(OPEN),), numeric=(numeric(SKIP),))
ABSENT = cell(OPEN, Stage.EXPORT, Symptom.UNAVAILABLE, message="onnx is not installed")
UNSUPPORTED = cell(SKIP, Stage.EXPORT, Symptom.UNSUPPORTED, message="nothing to quantize")


@pytest.mark.parametrize("record", [HEALTHY, FAULTY, SLOW, CRASHED, UNDECIDED])
def test_without_a_waiver_nothing_changes(record: Record) -> None:
    assert waived(record, (), TODAY) == record
    assert waived(record, [waiver(target="trace@torchscript")], TODAY) == record


@pytest.mark.parametrize("record", [FAULTY, SLOW, CRASHED])
def test_a_failure_under_a_live_waiver_is_a_skip_that_says_until_when_why_and_what(record: Record) -> None:
    found = waived(record, [waiver()], TODAY)
    assert found.verdict is SKIP
    assert found.message == f"waived until 2027-01-31: mended in 2.15; without it: fail: {record.message}"
    (result,) = found.waivers
    assert (result.state, result.verdict, result.message) == (WaiverState.WAIVED, FAIL, record.message)
    assert (found.numeric, found.latency, found.stage) == (record.numeric, record.latency, record.stage)


@pytest.mark.parametrize("record", [HEALTHY, FAULTY, UNDECIDED])
def test_an_expired_waiver_fails_whether_the_cell_does_or_not(record: Record) -> None:
    found = waived(record, [waiver()], LAST_DAY + dt.timedelta(days=1))
    assert found.verdict is FAIL
    assert found.message.startswith(f"the waiver of {TARGET} expired on 2027-01-31: mended in 2.15")
    assert found.message.endswith("36 floors" if record is FAULTY else "mended in 2.15")


def test_a_waiver_still_holds_on_its_last_day() -> None:
    assert waived(FAULTY, [waiver()], LAST_DAY).verdict is SKIP


def test_a_waiver_that_is_not_needed_any_more_fails() -> None:
    found = waived(HEALTHY, [waiver()], TODAY)
    assert found.verdict is FAIL
    assert found.message.startswith(f"remove the waiver of {TARGET}, it is not needed any more (mended in 2.15)")
    assert found.waivers[0].state is WaiverState.NOT_NEEDED


def test_an_inconclusive_cell_neither_needs_its_waiver_nor_proves_it_needless() -> None:
    found = waived(UNDECIDED, [waiver()], TODAY)
    assert found.verdict is OPEN
    assert found.message.startswith("agreement 0.9; its waiver until 2027-01-31 stays")
    assert found.waivers[0].state is WaiverState.KEPT


@pytest.mark.parametrize("record", [ABSENT, UNSUPPORTED])
@pytest.mark.parametrize("today", [TODAY, LAST_DAY + dt.timedelta(days=1)])
def test_a_cell_that_was_not_judged_is_left_alone(record: Record, today: dt.date) -> None:
    assert waived(record, [waiver()], today) == record


@pytest.mark.parametrize(
    ("narrowed", "record", "verdict"),
    [
        ({"output": "logits"}, FAULTY, SKIP),
        ({"check": "numeric", "output": "logits"}, FAULTY, SKIP),
        ({"output": "boxes"}, FAULTY, FAIL),
        ({"check": "shapes"}, FAULTY, FAIL),
        ({"check": "latency"}, FAULTY, FAIL),
        ({"check": "latency"}, SLOW, SKIP),
        ({"check": "numeric"}, SLOW, FAIL),
        ({"check": "numeric"}, CRASHED, FAIL),
        ({"check": "latency"}, HEALTHY, PASS),
        ({"check": "shapes"}, HEALTHY, FAIL),
    ],
)
def test_a_narrowed_waiver_covers_that_much_and_no_more(
    narrowed: dict[str, str], record: Record, verdict: Verdict
) -> None:
    assert waived(record, [waiver(**narrowed)], TODAY).verdict is verdict


def test_what_is_inconclusive_beside_a_waived_part_stays_so() -> None:
    record = cell(FAIL, Stage.COMPARE, Symptom.MISMATCH, numeric=(numeric(FAIL), numeric(OPEN, "boxes")))
    found = waived(record, [waiver(output="logits")], TODAY)
    assert found.verdict is OPEN
    assert "waived until" in found.message
    assert waived(record, [waiver()], TODAY).verdict is SKIP


def test_each_failure_can_have_a_waiver_of_its_own() -> None:
    record = cell(FAIL, Stage.TIME, Symptom.MISMATCH, numeric=(numeric(FAIL),), latency=(latency(FAIL),))
    both = [waiver(output="logits"), waiver(check="latency", reason="slow by design")]
    assert waived(record, both, TODAY).verdict is SKIP
    assert waived(record, both[:1], TODAY).verdict is FAIL
    assert len(waived(record, both, TODAY).waivers) == 2


def test_a_waiver_for_an_output_that_does_not_exist_is_offered_the_nearest() -> None:
    found = waived(HEALTHY, [waiver(output="logit")], TODAY)
    assert found.verdict is FAIL
    assert "covers nothing: did you mean 'logits'?" in found.message


def test_a_target_that_could_not_be_timed_is_a_failure_of_its_latency() -> None:
    record = cell(FAIL, Stage.TIME, Symptom.EXCEPTION, message="timing: died", numeric=(numeric(PASS),))
    assert waived(record, [waiver(check="latency")], TODAY, "died").verdict is SKIP
    assert waived(record, [waiver(check="numeric")], TODAY, "died").verdict is FAIL
    assert waived(FAULTY, [waiver(output="logits")], TODAY, "died").verdict is FAIL


def test_a_held_out_call_that_raised_is_not_covered_by_a_waiver_for_batch_sizes() -> None:
    record = cell(FAIL, Stage.RUN, Symptom.EXCEPTION, message="a call raised", shapes=(shape(FAIL),))
    assert waived(record, [waiver(check="shapes")], TODAY).verdict is FAIL
    assert waived(record, [waiver()], TODAY).verdict is SKIP


def test_a_waiver_for_everything_is_ended_by_its_last_day_alone() -> None:
    everywhere = waiver(target="*", everywhere=True)
    assert waived(FAULTY, [everywhere], TODAY).verdict is SKIP
    assert waived(HEALTHY, [everywhere], TODAY) == HEALTHY
    assert waived(HEALTHY, [everywhere], LAST_DAY + dt.timedelta(days=1)).verdict is FAIL


def test_some_parts_of_a_cell_do_not_tell_that_the_others_need_no_waiver() -> None:
    record = cell(
        FAIL, Stage.COMPARE, Symptom.MISMATCH, message="raised", numeric=(numeric(PASS),), shapes=(shape(FAIL),)
    )
    parts = parts_of(record)
    own = [part for part in parts if part.check == "numeric"]
    assert rule(own, [waiver()], TODAY, parts).waivers == ()
    assert rule(own, [waiver()], TODAY).verdict is FAIL


def settings(**changed: Any) -> Settings:
    given = {"model": "digits", "target": "onnx", "reason": "known", "expires": LAST_DAY, **changed}
    return Settings(root=Path(), waivers=[WaiverSettings(**given)])


def test_an_exporter_alone_stands_for_its_default_runtime() -> None:
    (found,) = waivers_of(settings(), "digits", TODAY)
    assert found.target == TARGET
    assert waivers_of(settings(), "other", TODAY) == ()
    assert waivers_of(settings(model="*"), "other", TODAY)[0].everywhere


def test_a_file_made_elsewhere_is_named_by_its_file() -> None:
    (found,) = waivers_of(settings(target="net.onnx"), "digits", TODAY)
    assert found.at("net.onnx@onnxruntime")
    assert not found.at("other.onnx@onnxruntime")


@pytest.mark.parametrize(
    ("changed", "what", "hint"),
    [
        ({"target": "onxn"}, "there is no exporter 'onxn'", "did you mean 'onnx'"),
        ({"target": "onnx@onnxruntim"}, "there is no runtime 'onnxruntim'", "did you mean 'onnxruntime'"),
        ({"target": "net.onnx@onnxruntim"}, "there is no runtime 'onnxruntim'", "did you mean 'onnxruntime'"),
        ({"model": "digit"}, "there is no model 'digit'", "did you mean 'digits'"),
        ({"expires": TODAY + dt.timedelta(days=MAX_DAYS_AHEAD + 1)}, "a waiver holds for a year at most", "choose"),
    ],
)
def test_a_waiver_that_cannot_be_meant_is_a_settings_error(changed: dict[str, Any], what: str, hint: str) -> None:
    with pytest.raises(SettingsError) as caught:
        waivers_of(settings(**changed), "digits", TODAY, known={"digits"})
    assert caught.value.what == what
    assert (caught.value.hint or "").startswith(hint)
    assert (caught.value.where or "").startswith("the waiver of ")


def test_a_year_ahead_is_still_allowed() -> None:
    assert waivers_of(settings(expires=TODAY + dt.timedelta(days=MAX_DAYS_AHEAD)), "digits", TODAY)


def test_where_models_cannot_be_told_none_is_called_unknown() -> None:
    assert waivers_of(settings(model="elsewhere"), "digits", TODAY, known=None) == ()
