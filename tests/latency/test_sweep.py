from __future__ import annotations

from parity.latency.sweep import sweeps
from parity.records import LatencyMeasurement


def measured(batch: int, median_ms: float, p90_ms: float | None = None, threads: int = 1) -> LatencyMeasurement:
    return LatencyMeasurement(
        batch=batch, threads=threads, median_ms=median_ms, throughput=batch / median_ms * 1e3, n=20, processes=3,
        p90_ms=p90_ms,
    )  # fmt: skip


def test_the_batch_of_best_throughput_need_not_be_the_largest() -> None:
    (found,) = sweeps([measured(1, 2.0), measured(8, 8.0), measured(32, 40.0)])
    assert (found.best_batch, found.best_throughput) == (8, 1000.0)
    assert (found.budget_ms, found.batch_within_budget, found.statistic) == (None, None, None)


def test_the_largest_batch_within_a_budget_goes_by_the_slow_calls_and_not_by_the_median() -> None:
    (found,) = sweeps([measured(32, 40.0, 60.0), measured(1, 2.0, 3.0), measured(8, 8.0, 12.0)], budget_ms=10)
    assert (found.batch_within_budget, found.statistic) == (1, "p90")


def test_with_too_few_calls_the_slowest_one_counts() -> None:
    (found,) = sweeps([measured(1, 2.0), measured(8, 8.0)], 10, {(1, 1): 3.0, (1, 8): 9.0})
    assert (found.batch_within_budget, found.statistic) == (8, "max")
    (found,) = sweeps([measured(1, 2.0), measured(8, 8.0)], 10, {(1, 1): 3.0, (1, 8): 11.0})
    assert found.batch_within_budget == 1


def test_no_batch_within_the_budget_is_said_by_its_absence() -> None:
    (found,) = sweeps([measured(1, 20.0, 30.0), measured(2, 5.0, 6.0)], budget_ms=10)
    assert (found.budget_ms, found.batch_within_budget, found.statistic) == (10, None, "p90")


def test_each_number_of_threads_has_its_own() -> None:
    found = sweeps([measured(1, 2.0), measured(1, 1.0, threads=2), measured(8, 4.0, threads=2)])
    assert [(each.threads, each.best_batch) for each in found] == [(1, 1), (2, 8)]
