from __future__ import annotations

import dataclasses
import itertools

import pytest

from parity import records
from parity.records import EXIT_STATUS, Record, Stage, Symptom, Verdict, worst

PASS, FAIL, OPEN, SKIP = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.SKIP


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        ([PASS, PASS], PASS),
        ([PASS, SKIP], PASS),
        ([PASS, OPEN, SKIP], OPEN),
        ([PASS, OPEN, FAIL], FAIL),
        ([SKIP, SKIP], SKIP),
        ([], SKIP),
    ],
)
def test_worst(verdicts: list[Verdict], whole: Verdict) -> None:
    assert worst(verdicts) is whole


def test_worst_depends_neither_on_order_nor_on_grouping() -> None:
    for three in itertools.product(Verdict, repeat=3):
        assert worst(three) is worst(reversed(three)) is worst([worst(three[:2]), three[2]])


def test_only_a_pass_exits_with_zero() -> None:
    assert EXIT_STATUS == {PASS: 0, FAIL: 1, OPEN: 3, SKIP: 3}


def test_verdicts_print_as_the_words_of_the_report() -> None:
    assert [str(each) for each in Verdict] == ["pass", "fail", "inconclusive", "skip"]
    assert f"{Stage.OPEN} {Symptom.CRASH}" == "open crash"


@pytest.mark.parametrize("kind", [each for each in vars(records).values() if dataclasses.is_dataclass(each)])
def test_every_record_is_frozen_and_keyword_only(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]  # every dataclass has it
    assert all(field.kw_only for field in dataclasses.fields(kind))


def test_a_report_finds_a_record_by_its_target() -> None:
    record = Record(target="onnx@onnxruntime", verdict=PASS, stage=Stage.DONE, symptom=Symptom.OK)
    report = records.Report(
        schema=records.SCHEMA, parity="0", created="", environment={}, verdict=PASS, records=(record,),
        model=records.ModelFacts(
            name="m", source="", weights_sha256="", code_sha256="", parameters=0, inputs=()
        ),
        samples=records.SampleFacts(source="", n=1, sha256=""),
        reference=records.ReferenceFacts(
            oracle="float64", outputs=(), longest_reduction=1, jittered_copies=0, seconds=0.0, threads=1
        ),
    )  # fmt: skip
    assert report.record("onnx@onnxruntime") is record
    with pytest.raises(KeyError):
        report.record("trace@torchscript")
