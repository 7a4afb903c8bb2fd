"""An explanation names the hazard that an exporter trips over, and is nothing but advice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parity.artifacts import Artifact, Manifest
from parity.explanations import MOST, explained
from parity.models.hazards.effects import KINDS, affected
from parity.records import ExportFacts, Hazard, Record, ReferenceFacts, ShapeResult, Stage, Symptom, Verdict
from parity.targets import Target

FACTS = ReferenceFacts(oracle="float64", outputs=(), longest_reduction=1, jittered_copies=0, seconds=1.0, threads=1)
MISMATCH: dict[str, Any] = {"verdict": Verdict.FAIL, "stage": Stage.COMPARE, "symptom": Symptom.MISMATCH}
REFUSED: dict[str, Any] = {"verdict": Verdict.FAIL, "stage": Stage.EXPORT, "symptom": Symptom.EXCEPTION}


def hazard(kind: str, line: int = 41) -> Hazard:
    return Hazard(kind=kind, where=f"model.py:{line}", what=f"does {kind}", affects=affected(kind))


def explain(exporter: str, ended: dict[str, Any], *hazards: Hazard, **changed: Any) -> tuple[str, ...]:
    record = Record(target=f"{exporter}@somewhere", **ended, **changed)
    return explained(record, Target(exporter, "somewhere"), replace(FACTS, hazards=hazards))


@pytest.mark.parametrize("exporter", ["trace", "onnx-torchscript"])
def test_a_trace_that_differs_is_explained_by_the_branch_that_it_baked_in(exporter: str) -> None:
    assert explain(exporter, MISMATCH, hazard("branch")) == (
        "likely because model.py:41 does branch: trace keeps the branch that its example took",
    )


@pytest.mark.parametrize("exporter", ["export", "onnx", "onnx-int8-static"])
def test_an_export_that_raises_is_explained_by_what_it_refuses(exporter: str) -> None:
    (told,) = explain(exporter, REFUSED, hazard("branch"))
    assert told.endswith("torch.export cannot branch on a value that it does not have")


def test_what_an_exporter_follows_explains_nothing() -> None:
    assert explain("script", MISMATCH, hazard("branch")) == ()
    assert explain("trace", REFUSED, hazard("branch")) == ()
    assert explain("export", MISMATCH, hazard("dynamic-output"), hazard("check")) == ()


def test_a_target_that_passed_timed_out_or_got_slow_has_no_explanation() -> None:
    for verdict, stage, symptom in (
        (Verdict.PASS, Stage.DONE, Symptom.OK),
        (Verdict.FAIL, Stage.EXPORT, Symptom.TIMEOUT),
        (Verdict.FAIL, Stage.RUN, Symptom.CRASH),
        (Verdict.FAIL, Stage.TIME, Symptom.MISMATCH),
        (Verdict.SKIP, Stage.EXPORT, Symptom.UNSUPPORTED),
        (Verdict.INCONCLUSIVE, Stage.DONE, Symptom.OK),
    ):
        assert explain("trace", {"verdict": verdict, "stage": stage, "symptom": symptom}, hazard("branch")) == ()


def test_sizes_come_first_where_only_some_batch_sizes_fail() -> None:
    found = hazard("branch"), hazard("size", 42)
    shapes = tuple(
        ShapeResult(batch=batch, symptom=Symptom.OK, verdict=verdict)
        for batch, verdict in ((2, Verdict.PASS), (3, Verdict.FAIL))
    )
    assert "model.py:41" in explain("trace", MISMATCH, *found)[0]
    assert "model.py:42" in explain("trace", MISMATCH, *found, shapes=shapes)[0]


def test_a_reference_that_is_not_stable_is_explained_by_what_makes_it_so() -> None:
    record = Record(target="trace@torchscript", verdict=Verdict.INCONCLUSIVE, stage=Stage.DONE, symptom=Symptom.OK)
    facts = replace(FACTS, unstable="two runs differ", hazards=(hazard("branch"), hazard("random", 7)))
    assert explained(record, Target("trace", "torchscript"), facts) == ("likely because model.py:7 does random",)


def test_a_file_made_elsewhere_is_only_assumed_to_have_been_traced() -> None:
    artifact = Artifact(Path(), Manifest("net.onnx", "onnx", "float", "net.onnx"))
    record = Record(target="net.onnx@onnxruntime", **MISMATCH)
    target = Target("net.onnx", "onnxruntime", artifact=artifact)
    (told,) = explained(record, target, replace(FACTS, hazards=(hazard("branch"),)))
    assert told.endswith(": if it was traced, trace keeps the branch that its example took")


def test_a_quantized_model_that_was_saved_by_tracing_is_explained_as_a_trace() -> None:
    export = ExportFacts(seconds=1.0, bytes=1, sha256="", cached=False, notes=("saved by tracing, since …",))
    assert explain("int8-dynamic", MISMATCH, hazard("branch")) == ()
    assert len(explain("int8-dynamic", MISMATCH, hazard("branch"), export=export)) == 1


def test_there_are_few_explanations_however_many_hazards_there_are() -> None:
    assert len(explain("trace", MISMATCH, *(hazard("branch", line) for line in range(9)))) == MOST


def test_every_kind_has_its_place_in_the_order() -> None:
    assert KINDS.index("branch") < KINDS.index("attribute") < KINDS.index("check")
