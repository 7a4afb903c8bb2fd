"""One cell, and the report that holds all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from parity.records.behaviour import BehaviourResult
from parity.records.facts import MachineFacts, ModelFacts, ReferenceFacts, SampleFacts
from parity.records.findings import DecisionResult, NumericResult, ShapeResult
from parity.records.golden import GoldenResult
from parity.records.latency import BudgetResult, LatencyResult, StartupFacts, SweepFacts
from parity.records.verdicts import Stage, Symptom, Verdict
from parity.records.waivers import WaiverResult

SCHEMA = "parity-report/1"
"""The schema of `report.json`. Fields may be added under it; a renamed one needs another number."""

RECOMPILE_LIMIT = "recompile limit"
"""The name, among what is known of a runtime, of this: `torch.compile` gave up, and ran other sizes eagerly."""


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """One file of an artifact, by its name relative to the artifact's folder."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class ExportFacts:
    """What an exporter made: seconds it took, size and digest of every file together, and of each one."""

    seconds: float
    bytes: int
    sha256: str
    cached: bool
    path: str | None = None
    notes: tuple[str, ...] = ()
    files: tuple[FileFacts, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MemoryFacts:
    """Highest resident memory of the process that ran the target, above what it started with."""

    peak_bytes: int


@dataclass(frozen=True, kw_only=True)
class Record:
    """One cell: one model at one target, and everything that was learnt about it.

    `worst_samples` are files that hold the inputs and all outputs of the worst sample of each output that
    did not pass.
    `explanations` are hazards of the model, or weights of another checkpoint, that may be why it failed; no verdict
    rests on them.
    """

    target: str
    verdict: Verdict
    stage: Stage
    symptom: Symptom
    message: str = ""
    precision: str | None = None
    log: str | None = None
    export: ExportFacts | None = None
    numeric: tuple[NumericResult, ...] = ()
    decisions: tuple[DecisionResult, ...] = ()
    shapes: tuple[ShapeResult, ...] = ()
    behaviour: tuple[BehaviourResult, ...] = ()
    latency: tuple[LatencyResult, ...] = ()
    budgets: tuple[BudgetResult, ...] = ()
    startup: tuple[StartupFacts, ...] = ()
    sweep: tuple[SweepFacts, ...] = ()
    memory: MemoryFacts | None = None
    runtime: dict[str, str] | None = None
    worst_samples: tuple[str, ...] = ()
    waivers: tuple[WaiverResult, ...] = ()
    explanations: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TimingFacts:
    """The timing stage: how long it took, how much of that was spent in bursts, in how many sittings.

    A sitting is one fresh process of each target that is still to be timed. `notes` say what disturbed it.
    """

    seconds: float
    burst_seconds: float
    sittings: int
    machine: MachineFacts | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Report:
    """One run of `parity report`."""

    schema: str
    parity: str
    created: str
    environment: dict[str, Any]
    model: ModelFacts
    samples: SampleFacts
    reference: ReferenceFacts
    records: tuple[Record, ...]
    verdict: Verdict
    message: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    golden: tuple[GoldenResult, ...] = ()
    timing: TimingFacts | None = None

    def record(self, target: str) -> Record:
        """The record of one target; raises KeyError where it was not planned."""
        for record in self.records:
            if record.target == target:
                return record
        raise KeyError(target)
