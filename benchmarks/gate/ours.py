"""The gate itself, on targets that did not change and on such that were slowed down."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.gate.subjects import BATCH, Subjects
from parity.gates.latency import Baseline, judge_latency
from parity.latency.plan import Plan
from parity.latency.statistics import Paired, summarise
from parity.models.spec import Limits
from parity.records import Verdict
from parity.workers.timed import REFERENCE, Cell, Timing, Timings, time_targets

LIMITS = (1.05, 1.10)
SECONDS = 2.5
"""Burst time of a target, and as much of eager: 5 s a cell."""

PLAN = Plan(seconds=0.75, processes=3, max_seconds=SECONDS)
GOLDEN_PLAN = replace(PLAN, max_seconds=4 * SECONDS)
"""A golden's own error is in every later comparison, so that it is given more time: `--latency-seconds 10`."""


@dataclass(frozen=True)
class Trial:
    """One target in one comparison: what the gate said at each limit, and after how many seconds of bursts."""

    target: str
    slowdown: float
    loaded: bool
    growth: float
    verdicts: Mapping[float, Verdict]
    seconds: Mapping[float, float]


@dataclass(frozen=True)
class Measured:
    """The processes of each target, and the time that the stage took with how much of it went into bursts."""

    pairs: Mapping[str, Sequence[Paired]]
    seconds: float
    burst_seconds: float


def baselines(subjects: Subjects) -> dict[str, Baseline]:
    """What a golden would hold: each target timed for as long as a golden is."""
    made = _time(subjects, 0.0, None)
    found = {}
    for name, pairs in made.pairs.items():
        measured = summarise(BATCH, 1, pairs)
        if measured.ratio is None:
            raise RuntimeError(f"{name} has no ratio to eager")
        found[name] = Baseline(measured.ratio, measured.ratio_low, measured.ratio_high)
    return found


def trials(
    subjects: Subjects, golden: Mapping[str, Baseline], *, slowdown: float, loaded: bool
) -> tuple[list[Trial], Measured]:
    """One comparison of each target, timed until the gate has decided at every limit or the time is over."""
    made = _time(subjects, slowdown, golden)
    return [_trial(name, pairs, golden[name], slowdown, loaded=loaded) for name, pairs in made.pairs.items()], made


def _trial(name: str, pairs: Sequence[Paired], golden: Baseline, slowdown: float, *, loaded: bool) -> Trial:
    said = {limit: _first_decided(pairs, golden, limit) for limit in LIMITS}
    whole = summarise(BATCH, 1, pairs)
    return Trial(
        target=name,
        slowdown=slowdown,
        loaded=loaded,
        growth=(whole.ratio or 0.0) / golden.ratio,
        verdicts={limit: verdict for limit, (verdict, _) in said.items()},
        seconds={limit: seconds for limit, (_, seconds) in said.items()},
    )


def _first_decided(pairs: Sequence[Paired], golden: Baseline, limit: float) -> tuple[Verdict, float]:
    """What the gate would have said at one limit, had it been the only one: it stops at the first decision."""
    verdict, seconds = Verdict.INCONCLUSIVE, 0.0
    for count in range(min(PLAN.processes, len(pairs)), len(pairs) + 1):
        verdict = judge_latency(summarise(BATCH, 1, pairs[:count]), golden, Limits(latency=limit), "").verdict
        seconds = sum(burst.seconds for each in pairs[:count] for burst in (*each.target, *each.eager))
        if verdict is not Verdict.INCONCLUSIVE:
            break
    return verdict, seconds


def _time(subjects: Subjects, slowdown: float, golden: Mapping[str, Baseline] | None) -> Measured:
    def undecided(timings: Timings) -> Collection[Cell]:
        cells = [cell for cell in timings.paired if cell.target != REFERENCE]
        if golden is None:
            return cells
        return [
            cell
            for cell in cells
            if any(
                _first_decided(timings.paired[cell], golden[cell.target], limit)[0] is Verdict.INCONCLUSIVE
                for limit in LIMITS
            )
        ]

    timing = Timing(
        children=subjects.children,
        tasks={REFERENCE: subjects.eager, **subjects.slowed(slowdown)},
        batches=(BATCH,),
        plan=GOLDEN_PLAN if golden is None else PLAN,
        logs=subjects.logs,
        undecided=undecided,
    )
    timings = time_targets(timing)
    if timings.failed:
        raise RuntimeError(f"could not be timed: {timings.failed}")
    pairs = {cell.target: made for cell, made in timings.paired.items() if cell.target != REFERENCE}
    return Measured(pairs, timings.seconds, timings.burst_seconds)
