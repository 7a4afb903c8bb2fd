"""Reports made by hand, as realistic as those of a run: the numbers are those of a small classifier."""

from __future__ import annotations

import dataclasses
from typing import Any

from parity.records import (
    SCHEMA,
    DecisionResult,
    ExportFacts,
    Hazard,
    LatencyMeasurement,
    LatencyResult,
    MemoryFacts,
    ModelFacts,
    NumericResult,
    OutputFacts,
    Record,
    ReferenceFacts,
    Report,
    SampleFacts,
    ShapeResult,
    Stage,
    Symptom,
    Verdict,
    WaiverResult,
    WaiverState,
    worst,
)

EAGER_MS = {1: 31.2, 8: 195.0, 32: 771.0}
BATCHES = (1, 2, 3, 8, 32)
HAZARD = "<script>alert('x')</script> & \"q\" | pipe\nsecond `line` [link](http://example.org) @someone *bold*"


def numeric(ratio: float | None = 1.05, **changed: Any) -> NumericResult:
    """One float output, healthy unless told otherwise."""
    given: dict[str, Any] = {
        "output": "logits",
        "rule": "floor",
        "error": None if ratio is None else 5.6e-7 * ratio,
        "floor": 5.6e-7,
        "ratio": ratio,
        "limit": 10.0,
        "allowance": 4.1e-6,
        "measure": "rms of a sample",
        "max_abs": 6.6e-7,
        "worst_sample": 17,
        "n": 540,
        "sqnr_db": 121.4,
        "verdict": Verdict.PASS,
    }
    return NumericResult(**{**given, **changed})


def decision(value: float = 1.0, **changed: Any) -> DecisionResult:
    """Top-1 agreement over 540 samples."""
    given: dict[str, Any] = {
        "output": "logits",
        "metric": "top1_agreement",
        "value": value,
        "low": max(0.0, value - 0.007),
        "high": min(1.0, value + 0.004),
        "limit": 0.98,
        "flips": round(540 * (1 - value)),
        "ties": 0,
        "n": 540,
        "verdict": Verdict.PASS,
    }
    return DecisionResult(**{**given, **changed})


def shapes(*failing: int) -> tuple[ShapeResult, ...]:
    """The sweep of batch sizes, with those that fail."""
    return tuple(
        ShapeResult(batch=batch, symptom=Symptom.MISMATCH, ratio=312.0, limit=10.0, verdict=Verdict.FAIL)
        if batch in failing
        else ShapeResult(batch=batch, symptom=Symptom.OK, ratio=1.1, limit=10.0, verdict=Verdict.PASS)
        for batch in BATCHES
    )


def latency(ratio: float, spread: float = 0.02, **changed: Any) -> tuple[LatencyResult, ...]:
    """Timings at three batch sizes, a little slower at the smallest."""
    return tuple(
        LatencyResult(
            **{
                "batch": batch,
                "threads": 2,
                "median_ms": eager * ratio * slower,
                "p90_ms": eager * ratio * slower * 1.08,
                "throughput": batch / (eager * ratio * slower) * 1000,
                "n": 96,
                "processes": 4,
                "ratio": ratio * slower,
                "ratio_low": ratio * slower - spread,
                "ratio_high": ratio * slower + spread,
                "verdict": Verdict.PASS,
                **changed,
            }
        )
        for (batch, eager), slower in zip(EAGER_MS.items(), (1.2, 1.0, 0.96), strict=True)
    )


def export(size: int = 46827531, **changed: Any) -> ExportFacts:
    """What an exporter left behind."""
    given: dict[str, Any] = {"seconds": 3.1, "bytes": size, "sha256": "5f1c" * 16, "cached": False}
    return ExportFacts(**{**given, **changed})


def record(target: str, **changed: Any) -> Record:
    """A cell that passed everything, unless told otherwise."""
    given: dict[str, Any] = {
        "target": target,
        "verdict": Verdict.PASS,
        "stage": Stage.DONE,
        "symptom": Symptom.OK,
        "precision": "float32",
        "export": export(),
        "numeric": (numeric(),),
        "decisions": (decision(),),
        "shapes": shapes(),
        "latency": latency(0.72),
        "memory": MemoryFacts(peak_bytes=412000000),
        "runtime": {"provider": "CPUExecutionProvider", "version": "1.32.0"},
    }
    return Record(**{**given, **changed})


def waived(**changed: Any) -> Record:
    """A cell whose failure is covered by a waiver."""
    message = "logits: error 2e-05 is 36 floors"
    waiver = WaiverResult(
        target="onnx@onnxruntime",
        reason="the resize is fixed in opset 22",
        expires="2025-03-31",
        state=WaiverState.WAIVED,
        verdict=Verdict.FAIL,
        check="numeric",
        output="logits",
        message=message,
    )
    given: dict[str, Any] = {
        "verdict": Verdict.SKIP,
        "stage": Stage.COMPARE,
        "symptom": Symptom.MISMATCH,
        "message": f"waived until {waiver.expires}: {waiver.reason}; without it: fail: {message}",
        "numeric": (numeric(36.0, verdict=Verdict.FAIL, message=message),),
        "waivers": (waiver,),
    }
    return record("onnx@onnxruntime", **{**given, **changed})


def broken(target: str, stage: Stage, symptom: Symptom, message: str, verdict: Verdict = Verdict.FAIL) -> Record:
    """A cell that ended before anything could be measured."""
    log = None if symptom is Symptom.UNAVAILABLE else f"parity-report/artifacts/{target.partition('@')[0]}/log.txt"
    return Record(target=target, verdict=verdict, stage=stage, symptom=symptom, message=message, log=log)


def report(*records: Record, **changed: Any) -> Report:
    """A report of these records, with the verdict that follows from theirs."""
    given: dict[str, Any] = {
        "schema": SCHEMA,
        "parity": "0.1.0",
        "created": "2025-01-31T12:00:00+00:00",
        "environment": {
            "python": "3.11.7",
            "platform": "Linux-6.1-x86_64",
            "cpu": "Example CPU, 2 cores",
            "packages": {"torch": "2.14.1", "onnxruntime": "1.32.0"},
        },
        "model": ModelFacts(
            name="resnet18",
            source="checkpoints/resnet18.pt",
            weights_sha256="a1b2" * 16,
            code_sha256="c3d4" * 16,
            parameters=11689512,
            inputs=("image: float32[N, 3, 224, 224]",),
        ),
        "samples": SampleFacts(source="data/heldout.npz", n=540, sha256="e5f6" * 16, labelled=True),
        "reference": ReferenceFacts(
            oracle="float64",
            oracle_reason=None,
            outputs=(OutputFacts(name="logits", dtype="float32", shape=(8, 1000), batched=True),),
            longest_reduction=4608,
            jittered_copies=0,
            seconds=41.7,
            threads=2,
            latency=tuple(
                LatencyMeasurement(
                    batch=batch,
                    threads=2,
                    median_ms=ms,
                    p90_ms=ms * 1.05,
                    throughput=batch / ms * 1000,
                    n=96,
                    processes=4,
                )
                for batch, ms in EAGER_MS.items()
            ),
        ),
        "records": records,
        "verdict": worst(each.verdict for each in records),
        "settings": {"threads": 2, "batch_sizes": list(BATCHES)},
    }
    return Report(**{**given, **changed})


def all_pass() -> Report:
    """Three targets, nothing to complain of."""
    return report(
        record("trace@torchscript", latency=latency(0.94)),
        record("onnx@onnxruntime"),
        record("onnx@openvino", latency=latency(0.67)),
    )


def nine_targets() -> Report:
    """Every way in which a target can end, in one report."""
    mismatch = "output boxes: error 312 floors, limit 10; worst at sample 4"
    return report(
        record("trace@torchscript", latency=latency(0.94), numeric=(numeric(0.41),)),
        record("onnx@onnxruntime"),
        record(
            "onnx@openvino",
            verdict=Verdict.FAIL,
            symptom=Symptom.MISMATCH,
            message=mismatch,
            numeric=(
                numeric(2.2),
                numeric(312.0, output="boxes", verdict=Verdict.FAIL, worst_sample=4, message=mismatch, max_abs=0.21),
                numeric(
                    None,
                    output="labels",
                    rule="exact",
                    error=None,
                    floor=None,
                    limit=None,
                    mismatched=3,
                    sqnr_db=None,
                    measure=None,
                    allowance=None,
                    max_abs=1.0,
                    worst_sample=8,
                    verdict=Verdict.FAIL,
                    message="3 of 540 integers differ",
                ),
            ),
            shapes=shapes(3, 32),
            latency=latency(0.67),
            log="parity-report/artifacts/onnx/run-openvino.log",
        ),
        broken("aoti@torch", Stage.RUN, Symptom.CRASH, "the worker died with SIGSEGV at batch 3"),
        broken("onnx-torchscript@onnxruntime", Stage.EXPORT, Symptom.TIMEOUT, "no artifact after 300 s"),
        record(
            "onnx-int8-static@onnxruntime",
            precision="int8",
            export=export(11802114, cached=True),
            numeric=(numeric(None, error=None, floor=None, limit=None, sqnr_db=32.4, measure=None, allowance=None),),
            decisions=(
                decision(0.9907),
                decision(
                    0.913, metric="label_accuracy", reference=0.917, limit=None, flips=None, ties=None, verdict=None
                ),
            ),
            latency=latency(0.21),
        ),
        record(
            "fx-int8@torchscript",
            verdict=Verdict.INCONCLUSIVE,
            message="top-1 agreement 0.983 (0.976..0.987) has the limit 0.98 inside; about 2100 samples would decide",
            precision="int8",
            export=export(11950221),
            numeric=(numeric(None, error=None, floor=None, limit=None, sqnr_db=18.9, measure=None, allowance=None),),
            decisions=(decision(0.983, verdict=Verdict.INCONCLUSIVE),),
            latency=latency(0.36),
        ),
        record(
            "torch-export@torch",
            verdict=Verdict.INCONCLUSIVE,
            message="latency at batch 8: ratio 1.04 (0.81..1.27) is too noisy for the limit 1.1; run longer",
            latency=latency(
                1.04,
                0.23,
                verdict=Verdict.INCONCLUSIVE,
                baseline=0.99,
                limit=1.1,
                message="too noisy: the interval holds the limit",
            ),
        ),
        broken(
            "tensorrt@tensorrt",
            Stage.OPEN,
            Symptom.UNAVAILABLE,
            "unavailable: tensorrt is not installed (pip install tensorrt)",
            Verdict.SKIP,
        ),
    )


def unstable() -> Report:
    """A reference that differs from itself."""
    base = report(
        record(
            "onnx@onnxruntime",
            verdict=Verdict.INCONCLUSIVE,
            message="the reference is not deterministic",
            numeric=(),
            decisions=(),
            shapes=(),
            latency=(),
        )
    )
    reference = dataclasses.replace(base.reference, unstable="two runs on sample 0 differ by 0.77", latency=())
    return dataclasses.replace(base, reference=reference)


def explained(hazards: int = 2) -> Report:
    """A model with hazards, one target that they explain and one that passes all the same."""
    found = tuple(
        Hazard(
            kind="branch",
            where=f"model.py:{41 + number}",
            what="reads a tensor's value into Python",
            affects=("trace", "export"),
            line="if x.sum() > 0:",
            module="encoder.layers.3",
            count=2,
        )
        for number in range(hazards)
    )
    why = "likely because model.py:41 reads a tensor's value into Python: trace keeps the branch that its example took"
    base = report(
        record("script@torchscript"),
        record(
            "trace@torchscript",
            verdict=Verdict.FAIL,
            symptom=Symptom.MISMATCH,
            stage=Stage.COMPARE,
            message="output logits: error 312 floors, limit 10",
            explanations=(why,),
        ),
    )
    return dataclasses.replace(base, reference=dataclasses.replace(base.reference, hazards=found))


def hazardous() -> Report:
    """Names and messages made of markup for HTML, Markdown, rich and JavaScript."""
    base = report(
        record(
            "</script><b>x</b>@[red]y[/red]|z",
            verdict=Verdict.FAIL,
            message=HAZARD,
            log="a|b`c.log",
            numeric=(numeric(50.0, output="<i>out</i>|[bold]", verdict=Verdict.FAIL, message=HAZARD),),
            explanations=(HAZARD,),
        ),
    )
    found = Hazard(
        kind="branch", where="<i>.py:1", what=HAZARD, affects=("<u>",), line="if a < b | c:", module="[red]m"
    )
    base = dataclasses.replace(base, reference=dataclasses.replace(base.reference, hazards=(found,)))
    model = dataclasses.replace(base.model, name="<img src=x onerror=alert(1)>", notes=(HAZARD,))
    return dataclasses.replace(base, model=model, message=HAZARD, environment={"<u>": {"[k]": HAZARD}})
