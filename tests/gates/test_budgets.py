from __future__ import annotations

from typing import Any

import pytest

from parity.gates.budgets import judge_budgets
from parity.models.spec import EVERY_BATCH, Limits
from parity.records import BudgetResult, LatencyMeasurement, Verdict


def measured(
    batch: int = 1, median: float = 10.0, spread: float | None = 1.0, peak: int | None = None
) -> LatencyMeasurement:
    return LatencyMeasurement(
        batch=batch,
        threads=1,
        median_ms=median,
        median_low_ms=None if spread is None else median - spread,
        median_high_ms=None if spread is None else median + spread,
        throughput=batch / median * 1e3,
        n=20,
        processes=3,
        peak_bytes=peak,
    )


def judged(limits: Limits, *timed: LatencyMeasurement, **facts: Any) -> list[BudgetResult]:
    return list(judge_budgets(limits, timed, **{"size": 1000, "peak": 5000, "timed": True, **facts}))


def verdicts(limits: Limits, *timed: LatencyMeasurement, **facts: Any) -> list[str]:
    return [str(each.verdict) for each in judged(limits, *timed, **facts)]


def test_without_limits_nothing_is_judged() -> None:
    assert judged(Limits(), measured()) == []


@pytest.mark.parametrize(("size", "verdict"), [(1000, "pass"), (1001, "fail")])
def test_an_artifact_may_be_as_large_as_its_limit(size: int, verdict: str) -> None:
    (found,) = judged(Limits(max_bytes=1000), size=size)
    assert str(found.verdict) == verdict
    assert found.message == (None if verdict == "pass" else "1,001 bytes of files, 1,000 are allowed")


def test_what_has_no_file_is_not_judged_by_its_size() -> None:
    assert judged(Limits(max_bytes=1), size=None) == []


def test_memory_is_that_of_the_timed_processes_and_else_of_the_run() -> None:
    limits = Limits(max_memory=1000)
    assert verdicts(limits, measured(peak=900), measured(8, peak=1000), peak=5000) == ["pass"]
    assert verdicts(limits, measured(peak=900), measured(8, peak=1001), peak=1) == ["fail"]
    assert verdicts(limits, peak=1001, timed=False) == ["fail"]
    assert verdicts(limits, peak=999, timed=False) == ["pass"]


def test_memory_that_nobody_tells_is_open() -> None:
    (found,) = judged(Limits(max_memory=1000), measured(), peak=None)
    assert (found.verdict, found.value) == (Verdict.INCONCLUSIVE, None)


@pytest.mark.parametrize(("allowed", "verdict"), [(11.0, "pass"), (10.5, "inconclusive"), (8.9, "fail")])
def test_a_call_is_judged_by_the_whole_interval_of_its_median(allowed: float, verdict: str) -> None:
    (found,) = judged(Limits(max_ms=((EVERY_BATCH, allowed),)), measured())
    assert str(found.verdict) == verdict
    assert (found.value, found.low, found.high, found.batch, found.threads) == (10.0, 9.0, 11.0, 1, 1)
    if verdict == "fail":
        assert found.message == "10 (9 to 11) ms a call in the median, at most 8.9 are allowed"


def test_a_batch_size_may_have_a_limit_of_its_own() -> None:
    limits = Limits(max_ms=((EVERY_BATCH, 5.0), (8, 50.0)))
    assert verdicts(limits, measured(1), measured(8, 40.0)) == ["fail", "pass"]


def test_a_batch_size_with_a_limit_that_was_not_timed_is_open() -> None:
    (found,) = judged(Limits(max_ms=((64, 5.0),)), measured(1), untimed=lambda batch: f"--batch-sizes 1,{batch}")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.message is not None
    assert (found.batch, found.message) == (64, "--batch-sizes 1,64")


def test_a_throughput_is_told_without_exponents_and_as_something_that_is_asked_for() -> None:
    (found,) = judged(Limits(min_throughput=1e9), measured(8000, 10.0))
    assert found.message == (
        "800,000 (727,273 to 888,889) samples a second in the median, at least 1,000,000,000 are asked for"
    )


@pytest.mark.parametrize(("least", "verdict"), [(700.0, "pass"), (800.0, "inconclusive"), (900.0, "fail")])
def test_throughput_is_that_of_the_best_batch_size(least: float, verdict: str) -> None:
    (found,) = judged(Limits(min_throughput=least), measured(1), measured(8, 10.0))
    assert str(found.verdict) == verdict
    assert found.batch == 8
    assert found.value == pytest.approx(800)


def test_without_an_interval_or_a_timing_a_limit_on_time_is_open_and_without_a_timing_stage_it_is_not_asked() -> None:
    limits = Limits(max_ms=((EVERY_BATCH, 100.0),), min_throughput=1.0)
    assert verdicts(limits, measured(spread=None)) == ["inconclusive", "inconclusive"]
    assert verdicts(Limits(min_throughput=1.0)) == ["inconclusive"]
    assert verdicts(limits, timed=False) == []


def test_what_disturbed_the_machine_is_told_where_it_does_not_decide() -> None:
    (found,) = judged(Limits(min_throughput=100.0), measured(), disturbances=["others used 80 %"])
    assert found.message is not None
    assert found.message.endswith("3 processes do not tell: others used 80 %")
