from __future__ import annotations

from collections import Counter

import pytest

from parity.latency.bursts import SHORTEST_BURST, Burst, burst_seconds
from parity.latency.sampler import MIN_ROUNDS, MIN_SLOW_ROUNDS, interleave
from parity.latency.seats import Seats


class Clock:
    """A target whose calls take a known time; every burst is written down."""

    def __init__(self, name: str, call_seconds: float, told: list[tuple[str, int, float]], spent: list[float]) -> None:
        self.name = name
        self.call_seconds = call_seconds
        self.told = told
        self.spent = spent
        self.sat = []
        self.waits = {}

    def burst(self, batch: int, seconds: float, processors: tuple[int, ...] | None) -> Burst:
        self.told.append((self.name, batch, seconds))
        self.sat.append(processors)
        times = (self.call_seconds,) * max(int(seconds / self.call_seconds), 1)
        self.spent.append(sum(times))
        return Burst(times, self.waits.get(processors, 0.0))

    sat: list[tuple[int, ...] | None]
    waits: dict[tuple[int, ...] | None, float]


def run(seconds: float, seed: int = 0, **calls: float) -> tuple[dict[str, list[Burst]], list[str]]:
    told: list[tuple[str, int, float]] = []
    spent: list[float] = []
    targets = {name: Clock(name, taken, told, spent) for name, taken in calls.items()}
    # The answers take no time on the way here, so that all there is to wait for are the calls.
    bursts = interleave(targets, 8, seconds, seed=seed, seats=Seats([0, 1], 1), clock=lambda: sum(spent))
    assert {(batch, asked) for _, batch, asked in told} == {(8, burst_seconds())}
    assert burst_seconds() >= SHORTEST_BURST
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
def test_the_budget_is_met_to_half_a_round(seconds: float) -> None:
    bursts, _ = run(seconds, a=0.01, b=0.02)
    spent = sum(burst.seconds for own in bursts.values() for burst in own)
    longest_round = max(sum(burst.seconds for burst in each) for each in zip(*bursts.values(), strict=True))
    assert abs(spent - max(seconds * 2, MIN_ROUNDS * longest_round)) <= longest_round


def test_a_slow_call_still_gets_enough_rounds_for_a_spread() -> None:
    bursts, _ = run(0.01, slow=10.0, fast=0.001)
    assert {len(each) for each in bursts.values()} == {MIN_SLOW_ROUNDS}
    assert bursts["slow"] == [Burst((10.0,), 0.0)] * MIN_SLOW_ROUNDS


def test_one_that_is_only_somewhat_too_slow_gets_the_usual_number() -> None:
    bursts, _ = run(0.1, slow=0.05)
    assert len(bursts["slow"]) == MIN_ROUNDS


def test_everybody_sits_on_the_same_processors_and_leaves_those_that_another_process_uses() -> None:
    told: list[tuple[str, int, float]] = []
    spent: list[float] = []
    targets = {name: Clock(name, 0.01, told, spent) for name in ("a", "b")}
    for each in targets.values():
        each.waits = {(0,): 0.5}
    interleave(targets, 1, 0.2, seed=0, seats=Seats([0, 1], 1), clock=lambda: sum(spent))
    assert targets["a"].sat == targets["b"].sat
    assert targets["a"].sat[0] == (0,)
    assert set(targets["a"].sat[1:]) == {(1,)}


def test_a_target_that_fails_ends_the_sampling() -> None:
    class Broken:
        def burst(self, batch: int, seconds: float, processors: tuple[int, ...] | None) -> Burst:
            raise RuntimeError("gone")

    with pytest.raises(RuntimeError, match="gone"):
        interleave({"broken": Broken()}, 1, 0.1, seed=0, seats=Seats([0], 1))
