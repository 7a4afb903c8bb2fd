"""The frozen records that pass between stages, and that `report.json` is written from.

A finding is one measured fact and has no opinion; a result is a finding together with the limit and
the verdict that a gate gave it. This package imports nothing else of ours.
"""

from parity.records.behaviour import BehaviourFinding, BehaviourResult
from parity.records.facts import (
    DECISIONS,
    LABELS,
    Hazard,
    MachineFacts,
    ModelFacts,
    OutputFacts,
    ReferenceFacts,
    SampleFacts,
)
from parity.records.findings import (
    DecisionFinding,
    DecisionResult,
    NumericFinding,
    NumericResult,
    ShapeFinding,
    ShapeResult,
    told,
)
from parity.records.golden import GoldenFinding, GoldenResult
from parity.records.latency import BudgetResult, LatencyMeasurement, LatencyResult, StartupFacts, SweepFacts
from parity.records.report import (
    RECOMPILE_LIMIT,
    SCHEMA,
    ExportFacts,
    FileFacts,
    MemoryFacts,
    Record,
    Report,
    TimingFacts,
)
from parity.records.verdicts import EXIT_STATUS, RAN, Stage, Symptom, Verdict, worst
from parity.records.waivers import WaiverResult, WaiverState

__all__ = [
    "DECISIONS",
    "EXIT_STATUS",
    "LABELS",
    "RAN",
    "RECOMPILE_LIMIT",
    "SCHEMA",
    "BehaviourFinding",
    "BehaviourResult",
    "BudgetResult",
    "DecisionFinding",
    "DecisionResult",
    "ExportFacts",
    "FileFacts",
    "GoldenFinding",
    "GoldenResult",
    "Hazard",
    "LatencyMeasurement",
    "LatencyResult",
    "MachineFacts",
    "MemoryFacts",
    "ModelFacts",
    "NumericFinding",
    "NumericResult",
    "OutputFacts",
    "Record",
    "ReferenceFacts",
    "Report",
    "SampleFacts",
    "ShapeFinding",
    "ShapeResult",
    "Stage",
    "StartupFacts",
    "SweepFacts",
    "Symptom",
    "TimingFacts",
    "Verdict",
    "WaiverResult",
    "WaiverState",
    "told",
    "worst",
]
