"""What the benchmark of the latency gate makes of answers: counts, and whether the gate keeps what it promises."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.gate.others import Run, compare
from benchmarks.gate.ours import LIMITS, Trial
from benchmarks.latency_gate import Counts, count_trials, holds
from parity.records import Verdict


def run(seed: int, slower: float = 1.0) -> Run:
    times = 0.001 * slower * np.exp(0.005 * np.random.default_rng(seed).standard_normal(50))
    return Run(tuple(times.tolist()))


def trial(said: Verdict, slowdown: float = 0.0, *, loaded: bool = False) -> Trial:
    return Trial("trace@torchscript", slowdown, loaded, 1.0, dict.fromkeys(LIMITS, said), dict.fromkeys(LIMITS, 4.0))


def counts(alarms: int, found_20: int = 100, found_10: int = 100, judge: str = "parity") -> list[Counts]:
    return [
        Counts(f"{judge}, limit {limit}", slowdown, loaded=False, n=n, failed=failed)
        for limit in LIMITS
        for slowdown, n, failed in ((0.0, 300, alarms), (0.10, 100, found_10), (0.20, 100, found_20))
    ]


@pytest.mark.parametrize(("slower", "raised"), [(1.0, False), (1.2, True), (0.8, False)])
def test_the_others_find_what_is_slower_beyond_doubt_and_nothing_else(slower: float, *, raised: bool) -> None:
    said = compare(run(0), run(1, slower))
    assert (said.pytest_benchmark, said.mann_whitney) == (raised, raised)


def test_a_rank_test_calls_what_is_two_percent_slower_a_regression_and_a_median_of_five_percent_does_not() -> None:
    said = compare(run(0), run(1, 1.02))
    assert (said.pytest_benchmark, said.mann_whitney) == (False, True)


def test_answers_are_counted_by_limit_and_load() -> None:
    said = [trial(Verdict.PASS), trial(Verdict.FAIL), trial(Verdict.INCONCLUSIVE, loaded=True)]
    found = count_trials(said)
    assert [(each.loaded, each.n, each.failed, each.undecided) for each in found] == [
        (False, 2, 1, 0), (False, 2, 1, 0), (True, 1, 0, 1), (True, 1, 0, 1),
    ]  # fmt: skip
    assert {each.seconds for each in found} == {4.0}


@pytest.mark.parametrize(
    ("alarms", "found_20", "found_10", "kept"),
    [(3, 99, 95, True), (4, 99, 95, False), (3, 98, 95, False), (3, 99, 94, False)],
)
def test_the_promise_is_one_alarm_in_a_hundred_and_most_slowdowns(
    alarms: int, found_20: int, found_10: int, *, kept: bool
) -> None:
    assert holds(counts(alarms, found_20, found_10)) is kept


def test_what_the_others_do_breaks_no_promise() -> None:
    assert holds([*counts(0), *counts(200, 0, 0, judge="Mann-Whitney")])
