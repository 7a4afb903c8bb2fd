"""Pairs of reports made by hand: one as it was released, and another in which one thing is worse."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from parity.diffing import Change, Diff, Trend, find_changes
from parity.records import LatencyResult, Record, Report
from tests.reports import examples

TARGET = "onnx@onnxruntime"
MACHINE = "Linux x86_64, Example CPU, 2 cores, 2 threads"


def report(*records: Record, **changed: Any) -> Report:
    """A report that says what class of machine it was made on."""
    made = examples.report(*(records or (examples.record("trace@torchscript"), examples.record(TARGET))), **changed)
    return dataclasses.replace(made, environment={"machine_class": MACHINE, "versions": {"torch": "2.14.1"}})


def with_record(**changed: Any) -> Report:
    """The same with something else in one target's record."""
    return report(examples.record("trace@torchscript"), examples.record(TARGET, **changed))


def on(report: Report, **environment: Any) -> Report:
    """The same report made somewhere else."""
    return dataclasses.replace(report, environment={**report.environment, **environment})


def timed(ratio: float, spread: float, growth: float = 1.0) -> tuple[LatencyResult, ...]:
    """One timing: a ratio with an interval of `spread`, a share of it."""
    return examples.latency(ratio * growth, ratio * growth * spread)


def told(diff: Diff, trend: Trend | None) -> list[Change]:
    """The changes of one trend."""
    return [change for change in diff.changes if change.verdict is trend]


def only(old: Report, new: Report, trend: Trend, keep: Callable[[Change], bool] = lambda _: True) -> Change:
    """The one change of this trend."""
    (found,) = (change for change in told(find_changes(old, new), trend) if keep(change))
    return found
