from __future__ import annotations

from collections import Counter

import pytest

from parity.latency.sampler import BURST_SECONDS, MIN_ROUNDS, interleave


class Clock:
    """A target whose calls take a known time; every burst is written down."""

    def __init__(self, name: str, call_seconds: float, told: list[tuple[str, int, float]]) -> None:
        self.name = name
        self.call_seconds = call_seconds
        self.told = told

    def burst(self, batch: int, seconds: float) -> tuple[float, ...]:
        self.told.append((self.name, batch, seconds))
        return (self.call_seconds,) * max(int(seconds / self.call_seconds), 1)


def run(seconds: float, seed: int = 0, **calls: float) -> tuple[dict[str, list[tuple[float, ...]]], list[str]]:
    told: list[tuple[str, int, float]] = []
    targets = {name: Clock(name, taken, told) for name, taken in calls.items()}
    bursts = interleave(targets, 8, seconds, seed=seed)
    assert {(batch, asked) for _, batch, asked in told} == {(8, BURST_SECONDS)}
    return bursts, [name for name, _, _ in told]


def test_every_round_gives_each_target_one_burst() -> None:
    bursts, order = run(0.5, a=0.001, b=0.005, c=0.02)
    rounds = [order[start : start + 3] for start in range(0, len(order), 3)]
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert {len(each) for each in bursts.values()} == {len(rounds)}


def test_no_target_always_follows_the_same_one() -> None:
    _, order = run(2.0, a=0.001, b=0.001, c=0.001)
    firsts = Counter(order[::3])
    assert set(firsts) == {"a", "b", "c"}
    assert max(firsts.values()) < len(order) / 3 * 0.6


def test_a_seed_fixes_the_order_and_another_changes_it() -> None:
    assert run(1.0, seed=1, a=0.001, b=0.001)[1] == run(1.0, seed=1, a=0.001, b=0.001)[1]
    assert run(1.0, seed=1, a=0.001, b=0.001)[1] != run(1.0, seed=2, a=0.001, b=0.001)[1]


@pytest.mark.parametrize("seconds", [0.1, 0.4, 1.0])
def test_the_budget_is_met_and_overrun_by_one_round_at_most(seconds: float) -> None:
    bursts, _ = run(seconds, a=0.01, b=0.02)
    spent = sum(sum(times) for own in bursts.values() for times in own)
    assert seconds * 2 <= spent + 1e-9
    assert spent <= seconds * 2 + 2 * BURST_SECONDS + 1e-9


def test_a_slow_call_still_gets_enough_rounds_for_a_spread() -> None:
    bursts, _ = run(0.01, slow=10.0, fast=0.001)
    assert {len(each) for each in bursts.values()} == {MIN_ROUNDS}
    assert bursts["slow"] == [(10.0,)] * MIN_ROUNDS


def test_a_target_that_fails_ends_the_sampling() -> None:
    class Broken:
        def burst(self, batch: int, seconds: float) -> tuple[float, ...]:
            raise RuntimeError("gone")

    with pytest.raises(RuntimeError, match="gone"):
        interleave({"broken": Broken()}, 1, 0.1, seed=0)
