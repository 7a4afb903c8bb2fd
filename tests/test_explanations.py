"""An explanation names the hazard that an exporter trips over, and is nothing but advice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from parity.artifacts import Artifact, Manifest
from parity.compare.weights import WeightFacts
from parity.explanations import MOST, explained, weighed
from parity.models.hazards.effects import KINDS, affected
from parity.models.signature import parse_signature
from parity.models.spec import ModelSpec
from parity.records import (
    DecisionResult,
    ExportFacts,
    Hazard,
    Record,
    ReferenceFacts,
    ShapeResult,
    Stage,
    Symptom,
    Verdict,
)
from parity.targets import Target
from parity.workers.process import Outcome

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


def test_inductor_that_rounds_less_often_than_eager_is_explained_by_the_narrow_line() -> None:
    """Of the other hazards Dynamo makes guards or graph breaks, and answers as eager does."""
    (told,) = explain("compile", MISMATCH, *map(hazard, KINDS))
    assert told.startswith("likely because model.py:41 does precision: Inductor rounds once")


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


def test_a_quantized_target_that_only_decides_otherwise_is_explained_by_nothing_but_its_precision() -> None:
    lost = (DecisionResult(output="embedding", metric="cosine", value=0.9, limit=0.98, verdict=Verdict.FAIL),)
    exact, quantized = {**MISMATCH, "decisions": lost}, {**MISMATCH, "decisions": lost, "precision": "int8"}
    assert explain("onnx-int8-static", quantized, hazard("size-branch")) == ()
    assert explain("onnx", exact, hazard("size-branch"))
    shape = ShapeResult(batch=3, symptom=Symptom.EXCEPTION, verdict=Verdict.FAIL)
    assert explain("onnx-int8-static", quantized, hazard("size-branch"), shapes=(shape,))


def test_there_are_few_explanations_however_many_hazards_there_are() -> None:
    assert len(explain("trace", MISMATCH, *(hazard("branch", line) for line in range(9)))) == MOST


def test_every_kind_has_its_place_in_the_order() -> None:
    assert KINDS.index("branch") < KINDS.index("attribute") < KINDS.index("check")


SUSPICIOUS = WeightFacts(16, ("conv1.weight", "conv1.bias"), suspicious=True)


@dataclass
class Told:
    """Children that answer with what they are given, and count."""

    outcome: Outcome
    asked: int = 0

    def run(self, *_: Any, **__: Any) -> Outcome:
        self.asked += 1
        return self.outcome


def _weighed(record: Record, target: Target, spec: ModelSpec, children: Any) -> str:
    return weighed(record, target, spec, children=children, folder=Path(), timeout=1.0)


def weigh(record: Record, facts: WeightFacts | None, artifact: Artifact | None) -> tuple[str, int]:
    children = Told(Outcome(Symptom.OK if facts else Symptom.EXCEPTION, 1.0, Path(), facts))
    target = Target("net.onnx", "onnxruntime", artifact=artifact)
    spec = ModelSpec("net", "net.py:Net", parse_signature("x: float32[N]"), Path())
    return _weighed(record, target, spec, children), children.asked


def artifact(precision: str = "float", *files: str) -> Artifact:
    held = dict.fromkeys(("net.onnx", *files), ("", 1))
    return Artifact(Path(), Manifest("net.onnx", "onnx", precision, "net.onnx", files=held))


FAILED = Record(target="net.onnx@onnxruntime", **MISMATCH)


def test_weights_of_another_checkpoint_explain_a_mismatch_and_external_data_is_named_where_there_is_some() -> None:
    said = "2 of 16 weights that carry the model's parameter names hold other numbers (first: conv1.weight): "
    assert weigh(FAILED, SUSPICIOUS, artifact()) == (f"{said}it was exported from another checkpoint", 1)
    told, _ = weigh(FAILED, SUSPICIOUS, artifact("float", "net.onnx.data"))
    assert told == f"{said}it was exported from another checkpoint, or its external data is another export's"


def test_the_models_own_weights_explain_nothing_and_neither_do_those_that_cannot_be_read() -> None:
    assert weigh(FAILED, replace(SUSPICIOUS, suspicious=False), artifact())[0] == ""
    assert weigh(FAILED, None, artifact())[0] == ""


def test_weights_are_read_of_failing_float_files_made_elsewhere_alone() -> None:
    for record, given in (
        (FAILED, None),
        (FAILED, artifact("int8")),
        (replace(FAILED, verdict=Verdict.PASS, stage=Stage.DONE, symptom=Symptom.OK), artifact()),
        (replace(FAILED, stage=Stage.OPEN, symptom=Symptom.EXCEPTION), artifact()),
    ):
        assert weigh(record, SUSPICIOUS, given) == ("", 0)
