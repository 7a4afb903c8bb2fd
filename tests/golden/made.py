"""References made by hand: arrays go in sample by sample, as a run would have written them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from parity.arrays import ArrayReader, ArrayWriter
from parity.compare.errors import Floats
from parity.compare.floor import ReferenceArrays, measure_floor
from parity.compare.sets import set_groups
from parity.golden.evidence import Evidence
from parity.models.signature import Dim, parse_signature
from parity.models.spec import ModelSpec
from parity.records import (
    SCHEMA,
    DecisionResult,
    LatencyResult,
    ModelFacts,
    NumericResult,
    OutputFacts,
    Record,
    ReferenceFacts,
    Report,
    SampleFacts,
    Stage,
    Symptom,
    Verdict,
)
from parity.samples.calls import plan_calls

TARGET = "onnx@onnxruntime"


@dataclass(frozen=True)
class MadeBench:
    """A bench that has its reference already."""

    spec: ModelSpec
    made: Evidence

    def evidence(self) -> Evidence:
        return self.made

    def changed(self, **changes: Any) -> MadeBench:
        return replace(self, made=replace(self.made, **changes))


def logits(n: int = 20, classes: int = 5, seed: int = 0) -> list[Floats]:
    """Oracle outputs of `n` samples, float64 [classes] each."""
    return list(np.random.default_rng(seed).normal(size=(n, classes)))


def bench(
    folder: Path,
    outputs: Mapping[str, Sequence[Any]],
    *,
    dtypes: Mapping[str, str] | None = None,
    digests: Sequence[str] | None = None,
    whole: Sequence[str] = (),
    batched: bool = True,
    **model: str,
) -> MadeBench:
    """A bench of a model whose oracle returned `outputs`: by name, one array for each sample.

    Args:
        folder: Where the arrays are written.
        outputs: What float64 returned; eager rounds it to the output's dtype.
        dtypes: Dtypes of the outputs, float32 where it is left out.
        digests: Digests of the inputs, by sample.
        whole: Outputs without a batch axis: each call returns their sum over its samples.
        batched: Whether the model takes batches.
        model: `weights_sha256` and `code_sha256`, where they matter.
    """
    first = next(iter(outputs.values()))
    kinds: dict[tuple[tuple[int, ...], ...], int] = {}
    shapes = [
        kinds.setdefault(tuple(parts[i].shape for parts in outputs.values()), len(kinds)) for i in range(len(first))
    ]
    calls = plan_calls(shapes, (), Dim(symbol="N") if batched else None)
    chosen = {name: (dtypes or {}).get(name, "float32") for name in outputs}
    with ArrayWriter(folder, "eager") as eager, ArrayWriter(folder, "oracle") as oracle:
        for call in calls:
            for name, parts in outputs.items():
                exact = np.stack([parts[i] for i in call.samples]) if batched else parts[call.samples[0]]
                exact = exact.sum(axis=0) if name in whole else exact
                eager.put(f"{call.id}/{name}", exact.astype(chosen[name]))
                oracle.put(f"{call.id}/{name}", exact)
    facts = ReferenceFacts(
        oracle="float64",
        outputs=tuple(
            OutputFacts(name=name, dtype=chosen[name], shape=parts[0].shape, batched=batched and name not in whole)
            for name, parts in outputs.items()
        ),
        longest_reduction=4,
        jittered_copies=0,
        seconds=0.1,
        threads=1,
    )
    arrays = ReferenceArrays(ArrayReader(folder, "eager"), ArrayReader(folder, "oracle"), set_groups(facts.outputs))
    known = tuple(digests or (f"input-{i}" for i in range(len(first))))
    signature = parse_signature("x: float32[N, 4]" if batched else "x: float32[4]")
    made = Evidence(
        model=ModelFacts(
            name="net",
            source="net.py:Net",
            weights_sha256=model.get("weights_sha256", "a" * 64),
            code_sha256=model.get("code_sha256", "b" * 64),
            parameters=10,
            inputs=("x: float32[N, 4]",),
        ),
        samples=SampleFacts(source="made", n=len(first), sha256="/".join(known)),
        reference=facts,
        machine="this machine",
        toolchain={"torch": "2.6.0"},
        arrays=arrays,
        yardsticks=measure_floor(facts, arrays, calls),
        calls=calls,
        digests=known,
        batched=batched,
    )
    return MadeBench(ModelSpec(name="net", factory="net.py:Net", signature=signature, root=folder), made)


def record(ratio: float = 1.5, agreement: float = 1.0, **changed: Any) -> Record:
    """A target that passed, and was timed at batch 8."""
    given: dict[str, Any] = {
        "target": TARGET,
        "verdict": Verdict.PASS,
        "stage": Stage.DONE,
        "symptom": Symptom.OK,
        "numeric": (NumericResult(output="y", rule="floor", ratio=ratio, verdict=Verdict.PASS),),
        "decisions": (
            DecisionResult(output="y", metric="top1_agreement", value=agreement, verdict=Verdict.PASS),
            DecisionResult(output="y", metric="accuracy", value=0.5),
        ),
        "latency": (latency(0.7),),
    }
    return Record(**{**given, **changed})


def latency(ratio: float | None, batch: int = 8, verdict: Verdict = Verdict.PASS) -> LatencyResult:
    """A timing at one batch size."""
    return LatencyResult(
        batch=batch,
        threads=1,
        median_ms=1.0,
        throughput=1.0,
        n=10,
        processes=2,
        ratio=ratio,
        ratio_low=None if ratio is None else ratio - 0.01,
        ratio_high=None if ratio is None else ratio + 0.01,
        verdict=verdict,
    )


def report(made: MadeBench, *records: Record) -> Report:
    """A report of what the bench holds."""
    return Report(
        schema=SCHEMA,
        parity="0",
        created="2026-01-01T00:00:00+00:00",
        environment={},
        model=made.made.model,
        samples=made.made.samples,
        reference=made.made.reference,
        records=records,
        verdict=Verdict.PASS,
    )
