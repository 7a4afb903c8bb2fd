"""Why a target may have failed: the hazards of its model that its exporter is known to trip over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from parity.artifacts import QUANTIZED, Artifact
from parity.compare.weights import WeightFacts
from parity.exporters import EXPORTERS
from parity.models.hazards.effects import EFFECTS, Effect
from parity.models.spec import ModelSpec
from parity.records import Hazard, Record, ReferenceFacts, Stage, Symptom, Verdict
from parity.targets import Target
from parity.workbench import Judged, Workbench
from parity.workers.process import Children
from parity.workers.weights import held_weights

MOST = 3
"""Explanations of one target: more would be a list of hazards, which the report has elsewhere."""

_CAPTURES = {"onnx-torchscript": "trace", "onnx": "export", "int8-dynamic": "script"}
"""Exporters that capture a model with another one. Those that start from an artifact follow its exporter."""

_FOREIGN = {"torchscript": "trace", "onnx": "trace", "exported-program": "export"}
"""What most likely captured a file made elsewhere, by its format."""

_SIZE_KINDS = frozenset({"size", "size-branch", "loop"})
_UNSTABLE_KINDS = frozenset({"random", "training", "write", "attribute"})


def explained(record: Record, target: Target, reference: ReferenceFacts) -> tuple[str, ...]:
    """What may have made a target fail, or left it undecided because eager itself is not stable; the likeliest first.

    A guess from what is known of exporters, which decides nothing.
    """
    if record.verdict is Verdict.INCONCLUSIVE and reference.unstable:
        return tuple(
            f"likely because {_told(hazard)}" for hazard in reference.hazards if hazard.kind in _UNSTABLE_KINDS
        )[:MOST]
    if record.verdict is not Verdict.FAIL or record.symptom not in (Symptom.MISMATCH, Symptom.EXCEPTION):
        return ()
    if record.stage not in (Stage.EXPORT, Stage.OPEN, Stage.RUN, Stage.COMPARE) or _costs_precision_alone(record):
        return ()
    found = []
    for hazard in _likeliest_first(reference.hazards, record):
        effect = _effect(hazard, target, record)
        why = effect and (effect.refuses if record.stage is Stage.EXPORT else effect.answers)
        if why:
            assumed = (
                "if it was traced, "
                if target.artifact and target.artifact.manifest.format != "exported-program"
                else ""
            )
            found.append(f"likely because {_told(hazard)}: {assumed}{why}")
    return tuple(found[:MOST])


def with_explanations(judged: Sequence[Judged], targets: Sequence[Target], bench: Workbench) -> list[Judged]:
    """The same with the explanations of each: what its weights say first, since that is measured and no guess."""
    facts, found = bench.reference().facts, []
    for target, each in zip(targets, judged, strict=True):
        weights = weighed(
            each.record, target, bench.spec,
            children=bench.children, folder=bench.artifacts, timeout=bench.timeouts.load,
        )  # fmt: skip
        told = (*filter(None, [weights]), *explained(each.record, target, facts))
        found.append(replace(each, record=replace(each.record, explanations=told)))
    return found


def weighed(
    record: Record, target: Target, spec: ModelSpec, *, children: Children, folder: Path, timeout: float
) -> str:
    """What the weights of a file made elsewhere say of its failure; empty where they are the model's, or unknown.

    Args:
        record: Of the target.
        target: A file made elsewhere; nothing is read of any other, nor where quantization has changed the weights.
        spec: The model, which is built once more to be compared.
        children: Where that is done.
        folder: For what it prints.
        timeout: Seconds.
    """
    artifact = target.artifact
    failed = (record.verdict, record.stage, record.symptom) == (Verdict.FAIL, Stage.COMPARE, Symptom.MISMATCH)
    if artifact is None or not failed or artifact.manifest.precision in QUANTIZED:
        return ""
    log = folder / f"{target.exporter}.weights.log"
    outcome = children.run(held_weights, spec, artifact, log=log, timeout=timeout)
    return weights_told(outcome.value, artifact) if outcome.symptom is Symptom.OK else ""


def weights_told(facts: WeightFacts, artifact: Artifact) -> str:
    """That the weights are another model's, in words; empty where they are not."""
    if not facts.suspicious:
        return ""
    beside = len(artifact.manifest.files) > 1
    why = "it was exported from another checkpoint" + (", or its external data is another export's" if beside else "")
    return (
        f"{len(facts.other)} of {facts.compared} weights that carry the model's parameter names hold other numbers "
        f"(first: {facts.other[0]}): {why}"
    )


def _costs_precision_alone(record: Record) -> bool:
    """Whether a quantized target decides too much otherwise and does nothing else wrong: that is what rounding does.

    What was captured wrongly shows in the exact targets that were captured alike, and is explained there.
    """
    decisions = {each.verdict for each in record.decisions}
    others = {each.verdict for results in (record.numeric, record.shapes, record.behaviour) for each in results}
    return record.precision in QUANTIZED and Verdict.FAIL in decisions and Verdict.FAIL not in others


def _told(hazard: Hazard) -> str:
    return f"{hazard.where} {hazard.what}"


def _likeliest_first(hazards: Sequence[Hazard], record: Record) -> list[Hazard]:
    """Where some batch sizes pass and others do not, what is made of sizes comes first."""
    verdicts = {shape.verdict for shape in record.shapes}
    by_size = {Verdict.PASS, Verdict.FAIL} <= verdicts
    return sorted(hazards, key=lambda hazard: by_size and hazard.kind not in _SIZE_KINDS)


def _effect(hazard: Hazard, target: Target, record: Record) -> Effect | None:
    capture = _capture(target, record)
    return EFFECTS.get(hazard.kind, {}).get(capture) if capture in hazard.affects else None


def _capture(target: Target, record: Record) -> str:
    if target.artifact is not None:
        return _FOREIGN.get(target.artifact.manifest.format, "")
    name = target.exporter
    while (source := EXPORTERS.get(name).source) is not None:
        name = source
    notes = record.export.notes if record.export else ()
    if name == "int8-dynamic" and any(note.startswith("saved by tracing") for note in notes):
        return "trace"
    return _CAPTURES.get(name, name)
