"""What people use in the gate's place: two separate runs, and their medians or a rank test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pytest_benchmark.utils import parse_compare_fail
from scipy.stats import mannwhitneyu

from benchmarks.gate.subjects import BATCH, Subjects
from parity.latency.bursts import burst_seconds
from parity.workers.timed import TimeTask
from parity.workers.timed.child import timed_child

RUN_SECONDS = 1.0
"""Bursts of one run. Longer ones were no better: what is wrong with them differs from run to run."""

SIGNIFICANT = 0.05
MEDIAN = parse_compare_fail("median:5%")


@dataclass(frozen=True)
class Run:
    """One target by itself in one process, where the scheduler put it: seconds of a call, burst by burst."""

    times: tuple[float, ...]


@dataclass(frozen=True)
class Said:
    """Whether each of them would have turned a build red."""

    pytest_benchmark: bool
    mann_whitney: bool


def run_alone(subjects: Subjects, task: TimeTask) -> Run:
    """The way a benchmark is usually run: one after the other, nothing beside it."""
    with timed_child(subjects.children, "alone", task, subjects.logs / "alone.log") as child:
        child.opened()
        child.ask_warm(BATCH)
        child.warm()
        rounds = round(RUN_SECONDS / burst_seconds())
        bursts = [child.burst(BATCH, burst_seconds(), None) for _ in range(rounds)]
    return Run(tuple(float(np.mean(burst.times)) for burst in bursts))


def compare(before: Run, after: Run) -> Said:
    """`--benchmark-compare-fail=median:5%`, and a two-sided Mann-Whitney test that finds the later run slower."""
    stats = [{"median": float(np.median(run.times))} for run in (after, before)]
    p = float(mannwhitneyu(after.times, before.times).pvalue)
    slower = stats[0]["median"] > stats[1]["median"]
    return Said(bool(MEDIAN.fails(*stats)), p < SIGNIFICANT and slower)
