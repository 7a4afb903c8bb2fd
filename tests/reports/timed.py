"""Reports with everything that can be known of speed: times of a small classifier as a noisy machine gives them."""

from __future__ import annotations

import dataclasses
from typing import Any

from parity.records import (
    BudgetResult,
    LatencyMeasurement,
    LatencyResult,
    NumericResult,
    Record,
    Report,
    StartupFacts,
    SweepFacts,
    TimingFacts,
    Verdict,
)

from . import examples

EAGER_MS = {1: 6.2, 2: 11.1, 8: 38.4, 32: 161.0}
NOTES = (
    "other processes used 31.0 % of the processors' time, where 5.0 % does little harm: end them",
    "the clock moved between 1900 and 3200 MHz under the governor powersave: cpupower frequency-set -g performance",
)
FOR_P99 = 662


def measured(batch: int, ms: float, threads: int = 2, **changed: Any) -> dict[str, Any]:
    """One timing as its fields; long calls have too few of them for the 99th percentile."""
    calls = round(24 / ms * 1000)
    enough = calls >= FOR_P99
    given = {
        "batch": batch,
        "threads": threads,
        "median_ms": ms,
        "median_low_ms": ms * 0.98,
        "median_high_ms": ms * 1.03,
        "p50_ms": ms * 1.01,
        "p90_ms": ms * 1.12,
        "p99_ms": ms * 1.4 if enough else None,
        "needed": None if enough else {"p99": FOR_P99},
        "calls": calls,
        "seconds": 24.0,
        "throughput": batch / ms * 1000,
        "n": 120,
        "processes": 6,
        "peak_bytes": 180_000_000 + batch * 3_000_000,
    }
    return {**given, **changed}


def eager(threads: int = 2) -> tuple[LatencyMeasurement, ...]:
    """The reference at every batch size; more threads are of less use to small ones."""
    return tuple(LatencyMeasurement(**measured(batch, _scaled(batch, threads), threads)) for batch in EAGER_MS)


def _scaled(batch: int, threads: int) -> float:
    return EAGER_MS[batch] * {1: 1.7, 2: 1.0, 4: 0.62}[threads] * (1.25 if batch == 1 and threads > 1 else 1.0)


def timings(ratio: float, threads: int = 2, spread: float = 0.03, **changed: Any) -> tuple[LatencyResult, ...]:
    """Timings that are held against a golden of nearly the same speed; `changed` holds for every batch size."""
    found = []
    for at, batch in enumerate(EAGER_MS):
        own = ratio * (1.15, 1.08, 1.0, 0.94)[at]
        baseline = ratio * 1.02
        given = measured(batch, _scaled(batch, threads) * own, threads) | {
            "ratio": own,
            "ratio_low": own * (1 - spread),
            "ratio_high": own * (1 + spread),
            "baseline": baseline,
            "baseline_low": baseline * 0.97,
            "baseline_high": baseline * 1.03,
            "growth": own / baseline,
            "growth_low": own / baseline * (1 - spread * 1.3),
            "growth_high": own / baseline * (1 + spread * 1.3),
            "limit": baseline * 1.25,
            "verdict": Verdict.PASS,
        }
        found.append(LatencyResult(**{**given, **changed}))
    return tuple(found)


def startup(load: float, first: float, threads: int = 2) -> StartupFacts:
    """From nothing to the first answer."""
    return StartupFacts(threads=threads, batch=8, load_ms=load, first_ms=first, processes=6)


def sweep(results: tuple[LatencyMeasurement, ...], budget: float | None = None) -> SweepFacts:
    """What the timings of one number of threads come to."""
    best = max(results, key=lambda each: each.throughput)
    fits = [each.batch for each in results if budget is not None and (each.p90_ms or 0.0) <= budget]
    return SweepFacts(
        threads=results[0].threads,
        best_batch=best.batch,
        best_throughput=best.throughput,
        budget_ms=budget,
        batch_within_budget=max(fits, default=None),
        statistic=None if budget is None else "p90",
    )


def budget(metric: str, limit: float, verdict: Verdict = Verdict.PASS, **changed: Any) -> BudgetResult:
    """One absolute limit."""
    return BudgetResult(metric=metric, limit=limit, verdict=verdict, **changed)


def cell(target: str, ratio: float, sweep_budget: float | None = None, **changed: Any) -> Record:
    """A target that was timed with two threads, and everything known of it."""
    results = timings(ratio)
    given: dict[str, Any] = {
        "latency": results,
        "startup": (startup(180.0 * ratio, 21.0),),
        "sweep": (sweep(results, sweep_budget),),
        "decisions": (examples.decision(0.996), _accuracy(0.917 - 0.01 * (1 - ratio))),
    }
    return examples.record(target, **{**given, **changed})


def _accuracy(value: float) -> Any:
    return examples.decision(
        value, metric="accuracy", reference=0.917, limit=None, flips=None, ties=None, verdict=None,
        low=value - 0.025, high=value + 0.02,
    )  # fmt: skip


def quantized(ratio: float, sweep_budget: float | None = None, **changed: Any) -> Record:
    """An int8 target, which is smaller and faster and agrees a little less."""
    numeric: NumericResult = examples.numeric(
        None, error=None, floor=None, limit=None, sqnr_db=32.4, measure=None, allowance=None
    )
    given: dict[str, Any] = {
        "precision": "int8",
        "export": examples.export(11802114),
        "numeric": (numeric,),
        "decisions": (examples.decision(0.985), _accuracy(0.905)),
    }
    return cell("onnx-int8-static@onnxruntime", ratio, sweep_budget, **{**given, **changed})


def report(*records: Record, sweep_budget: float | None = None, noisy: bool = False, **changed: Any) -> Report:
    """A report with its timing stage, and eager's own speed."""
    base = examples.report(*records)
    reference = dataclasses.replace(
        base.reference,
        latency=eager(),
        startup=(startup(240.0, 48.0),),
        sweep=(sweep(eager(), sweep_budget),),
    )
    timing = TimingFacts(seconds=312.0, burst_seconds=240.0, sittings=6, notes=NOTES if noisy else ())
    return dataclasses.replace(base, reference=reference, timing=timing, **changed)


def quiet() -> Report:
    """Three targets, nothing to complain of, no budget."""
    return report(cell("trace@torchscript", 0.94), cell("onnx@onnxruntime", 0.61), quantized(0.27))


SLOWER = "0.88 times eager's time, 1.41 (1.33 to 1.5) times the golden's 0.622; 1.25 times are allowed"
NOISY = (
    "0.94 times eager's time, 1.12 (0.91 to 1.38) times the golden's 0.84; 1.25 times are allowed: "
    "6 processes do not tell: other processes used 31.0 % of the processors' time"
)


def everything() -> Report:
    """Timings and budgets that passed, failed and could not be decided, on a noisy machine, with a sweep's budget."""
    slower = timings(0.88)
    eight = {**vars(slower[2]), **_grown(0.88, 0.622, 0.06), "verdict": Verdict.FAIL, "message": SLOWER}
    slower = (*slower[:2], LatencyResult(**eight), slower[3])
    unclear: dict[str, Any] = {"verdict": Verdict.INCONCLUSIVE, "message": NOISY}
    noisy = tuple(
        LatencyResult(**{**vars(each), **_grown(each.ratio or 0.0, 0.84, 0.2), **unclear})
        for each in timings(0.94, spread=0.18)
    )
    return report(
        cell("trace@torchscript", 0.94, 50.0, latency=noisy, verdict=Verdict.INCONCLUSIVE, message=f"batch 1: {NOISY}"),
        cell("onnx@onnxruntime", 0.88, 50.0, latency=slower, verdict=Verdict.FAIL, message=f"batch 8: {SLOWER}"),
        cell(
            "onnx@openvino",
            0.58,
            50.0,
            verdict=Verdict.FAIL,
            message="max_bytes: 46.8 MB, at most 40 MB is allowed",
            budgets=(
                budget("max_bytes", 40e6, Verdict.FAIL, value=46827531, message="46.8 MB, at most 40 MB is allowed"),
                budget("max_ms", 20.0, Verdict.INCONCLUSIVE, value=22.3, low=19.1, high=24.4, batch=8, threads=2),
                budget("min_throughput", 250.0, value=359.0, low=351.0, high=366.0, batch=8, threads=2),
                budget("max_memory", 1e9, value=412e6),
            ),
        ),
        quantized(0.27, 50.0),
        sweep_budget=50.0,
        noisy=True,
    )  # fmt: skip


def _grown(ratio: float, baseline: float, spread: float) -> dict[str, float]:
    growth = ratio / baseline
    return {
        "baseline": baseline,
        "baseline_low": baseline * 0.97,
        "baseline_high": baseline * 1.03,
        "growth": growth,
        "growth_low": growth * (1 - spread),
        "growth_high": growth * (1 + spread),
        "limit": baseline * 1.25,
    }


def several_threads() -> Report:
    """Three targets with one, two and four threads."""
    numbers = (1, 2, 4)

    def spread(target: str, ratio: float, **changed: Any) -> Record:
        results = {each: timings(ratio * (1 + 0.05 * each), each) for each in numbers}
        return cell(
            target,
            ratio,
            latency=tuple(result for each in numbers for result in results[each]),
            startup=tuple(startup(180.0 * ratio, 30.0 / each, each) for each in numbers),
            sweep=tuple(sweep(results[each], 50.0) for each in numbers),
            **changed,
        )

    base = report(
        spread("trace@torchscript", 0.94),
        spread("onnx@onnxruntime", 0.61),
        spread("onnx-int8-static@onnxruntime", 0.27, export=examples.export(11802114)),
    )
    reference = dataclasses.replace(
        base.reference,
        latency=tuple(each for number in numbers for each in eager(number)),
        startup=tuple(startup(240.0, 90.0 / number, number) for number in numbers),
        sweep=tuple(sweep(eager(number), 50.0) for number in numbers),
    )
    return dataclasses.replace(base, reference=reference)


def one_batch() -> Report:
    """Two targets at one batch size: there is nothing to draw over it."""
    cells = (cell("trace@torchscript", 0.94), cell("onnx@onnxruntime", 0.61))
    base = report(*(dataclasses.replace(each, latency=each.latency[2:3], sweep=()) for each in cells))
    reference = dataclasses.replace(base.reference, latency=base.reference.latency[2:3], sweep=())
    return dataclasses.replace(base, reference=reference)
