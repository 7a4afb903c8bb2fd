from __future__ import annotations

import itertools

import pytest

from parity.latency import bursts
from parity.latency.bursts import Burst, burst_seconds, clock_step


def test_a_coarse_clock_is_found_out() -> None:
    readings = itertools.count()
    assert clock_step(lambda: (next(readings) // 100) * 0.015) == pytest.approx(0.015)


def test_a_clock_that_stands_still_is_taken_at_its_word() -> None:
    assert 0 < clock_step(lambda: 1.0) < 0.1


def test_a_burst_is_a_thousand_steps_of_a_coarse_clock_and_20_ms_of_a_fine_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for step, seconds in ((1e-7, 0.02), (1e-3, 1.0)):
        burst_seconds.cache_clear()
        monkeypatch.setattr(bursts, "clock_step", lambda step=step: step)
        assert burst_seconds() == pytest.approx(seconds)
    burst_seconds.cache_clear()


def test_a_burst_lasts_as_long_as_its_calls() -> None:
    assert Burst((0.25, 0.5)).seconds == 0.75
