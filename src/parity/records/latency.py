"""What was measured of a target's speed, and the results that gates make of it."""

from __future__ import annotations

from dataclasses import dataclass

from parity.records.verdicts import Verdict


@dataclass(frozen=True, kw_only=True)
class LatencyMeasurement:
    """Times of one call at one batch size and number of threads; the ratio is to eager in the same run.

    `median_ms` is the median over the bursts' medians, `median_low_ms` and `median_high_ms` bound it with 95 %
    confidence. `p50_ms`, `p90_ms` and `p99_ms` are percentiles of all calls; one that there are too few calls for is
    absent, and `needed` has the number that it takes. `throughput` is in samples a second.
    `n` counts paired bursts, `processes` the fresh processes that they come from, `calls` the calls within them, and
    `seconds` is what the target's own bursts took. `ratio_low` and `ratio_high` bound the ratio with 95 % confidence.
    `peak_bytes` is the highest resident memory of the timed process above what it started with.
    """

    batch: int
    threads: int
    median_ms: float
    throughput: float
    n: int
    processes: int
    median_low_ms: float | None = None
    median_high_ms: float | None = None
    p50_ms: float | None = None
    p90_ms: float | None = None
    p99_ms: float | None = None
    calls: int | None = None
    needed: dict[str, int] | None = None
    seconds: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    peak_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class LatencyResult(LatencyMeasurement):
    """A measurement held against the golden's ratio for this class of machine.

    `baseline` is that ratio with the bounds of its own interval, and `limit` the largest ratio allowed. `growth` is
    the ratio over the baseline; its bounds hold the uncertainty of both.
    """

    verdict: Verdict
    baseline: float | None = None
    baseline_low: float | None = None
    baseline_high: float | None = None
    growth: float | None = None
    growth_low: float | None = None
    growth_high: float | None = None
    limit: float | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class BudgetResult:
    """One absolute limit: `max_ms`, `min_throughput`, `max_bytes` or `max_memory`, by the name that it is set by.

    `low` and `high` bound `value` with 95 % confidence where it was sampled. `batch` and `threads` are absent where
    it belongs to the artifact as a whole.
    """

    metric: str
    limit: float
    verdict: Verdict
    value: float | None = None
    low: float | None = None
    high: float | None = None
    batch: int | None = None
    threads: int | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class StartupFacts:
    """From nothing to the first answer, in fresh processes: medians over `processes` of them, in milliseconds.

    `load_ms` is what it takes to open the artifact (of eager: to build the model and load its weights), imports of
    the runtime included; `first_ms` is the very first call, of `batch` samples.
    """

    threads: int
    batch: int
    load_ms: float
    first_ms: float
    processes: int


@dataclass(frozen=True, kw_only=True)
class SweepFacts:
    """What the sweep over batch sizes says: the batch of best throughput, in samples a second, and of a budget.

    `batch_within_budget` is the largest batch of which `statistic` (`p90`, or `max` where there were too few calls
    for that) is within `budget_ms`; it is absent where no batch is.
    """

    threads: int
    best_batch: int
    best_throughput: float
    budget_ms: float | None = None
    batch_within_budget: int | None = None
    statistic: str | None = None
