"""The checks of a case without running it: what waivers make of a latency that is too high."""

from __future__ import annotations

import datetime as dt
import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from parity import speed
from parity.gates.latency import Baseline
from parity.gates.waivers import Waiver
from parity.latency.statistics import Paired
from parity.models.signature import parse_signature
from parity.models.spec import EVERY_BATCH, Limits, ModelSpec
from parity.records import NumericResult, Record, Stage, Symptom, Verdict
from parity.speed import Speed, SpeedRequest
from parity.suite import ParityCase, SuiteSession, _told
from parity.targets import parse_target
from parity.workbench import Judged
from parity.workers.timed import Cell, Timings
from tests.latency.made import bursts

TODAY = dt.date(2026, 11, 30)
TWICE_AS_SLOW = Paired(bursts(*[(0.002,)] * 12), bursts(*[(0.001,)] * 12))
SLOWER = "batch 8: 2 times eager's time, 2 (2 to 2) times the golden's 1"


@dataclass
class Benchmark:
    """As much of pytest-benchmark's fixture as a check looks at."""

    disabled: bool = False
    extra_info: dict[str, Any] = field(default_factory=dict)
    rounds: int = 0

    def pedantic(self, target: Callable[[], None], *, rounds: int, iterations: int) -> None:
        assert iterations == 1
        for _ in range(rounds):
            target()
            self.rounds += 1


Check = Callable[..., str]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Check]:
    """Runs `check_latency` of a case that is twice as slow as eager; returns its outcome and message."""
    record = Record(target="trace@torchscript", verdict=Verdict.PASS, stage=Stage.DONE, symptom=Symptom.OK)
    monkeypatch.setattr(ParityCase, "_judged", lambda _: Judged(record, SimpleNamespace()))  # type: ignore[arg-type]
    session = SuiteSession.at(tmp_path)
    session.today = TODAY
    spec = ModelSpec("tiny", "net.py:Net", parse_signature("x: float32[N, 6]"), tmp_path)
    timings = Timings({Cell("trace@torchscript", 8, 1): [TWICE_AS_SLOW] * 3})
    times = Speed(spec, SpeedRequest((8,), session.settings.latency), timings)

    def run(ratio: float, *waivers: Waiver, limits: Limits | None = None) -> str:
        limited = replace(times, spec=replace(spec, limits=limits or Limits()))
        monkeypatch.setattr(SuiteSession, "speed", lambda *_: limited)
        monkeypatch.setattr(speed, "latency_baseline", lambda *_: (Baseline(ratio), ""))
        case = ParityCase(session, spec, parse_target("trace"), waivers)
        benchmark = Benchmark()
        try:
            case.check_latency(benchmark)
        except (pytest.fail.Exception, pytest.skip.Exception) as outcome:
            return f"{type(outcome).__name__}: {outcome}"
        finally:
            assert benchmark.rounds == 36
            assert benchmark.extra_info["ratio"] == pytest.approx(2.0)
        return "Passed"

    yield run
    session.close()


def waiver(expires: dt.date = TODAY, **changed: Any) -> Waiver:
    return Waiver(**{"target": "trace@torchscript", "reason": "known", "expires": expires, **changed})


def test_a_target_that_has_become_slower_fails_and_its_healthy_twin_passes(check: Check) -> None:
    assert check(1.0).startswith(
        "Failed: tiny at trace@torchscript: batch 8: 2 times eager's time, 2 (2 to 2) times the golden's 1"
    )
    assert check(2.0) == "Passed"


@pytest.mark.parametrize("narrowed", [{}, {"check": "latency"}])
def test_under_a_live_waiver_it_is_skipped_and_says_so(check: Check, narrowed: dict[str, Any]) -> None:
    said = check(1.0, waiver(**narrowed))
    assert said.startswith(f"Skipped: waived until 2026-11-30: known; without it: fail: {SLOWER}")
    assert said.count("waived until") == 1


def test_under_an_expired_waiver_it_fails_slow_or_not(check: Check) -> None:
    expired = waiver(TODAY - dt.timedelta(days=1))
    for ratio in (1.0, 2.0):
        said = check(ratio, expired)
        assert "Failed: tiny at trace@torchscript: the waiver of trace@torchscript expired on 2026-11-29" in said


def test_only_a_waiver_for_the_latency_is_called_needless_by_it(check: Check) -> None:
    assert "remove the waiver of trace@torchscript, latency" in check(2.0, waiver(check="latency"))
    assert check(2.0, waiver()) == "Passed"
    assert check(2.0, waiver(check="numeric")) == "Passed"
    assert check(1.0, waiver(check="numeric")).startswith("Failed: tiny at trace@torchscript: batch 8")


def test_a_budget_that_is_not_kept_fails_it_and_a_waiver_for_budgets_is_for_that_alone(check: Check) -> None:
    slow, quick = (Limits(max_ms=((EVERY_BATCH, ms),)) for ms in (1.0, 5.0))
    said = "at most 1 are allowed"
    assert said in check(2.0, limits=slow)
    assert check(2.0, limits=quick) == "Passed"
    assert check(2.0, waiver(check="budgets"), limits=slow).startswith("Skipped: waived until")
    assert said in check(2.0, waiver(check="latency"), limits=slow)
    assert SLOWER in check(1.0, waiver(check="budgets"), limits=quick)
    assert "remove the waiver of trace@torchscript, budgets" in check(2.0, waiver(check="budgets"), limits=quick)


@pytest.mark.parametrize(("narrowed", "outcome"), [("budgets", "Passed"), ("latency", "Passed"), ("numeric", "Failed")])
def test_numerics_are_failed_by_their_own_expired_waiver_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, narrowed: str, outcome: str
) -> None:
    numeric = (NumericResult(output="y", rule="floor", verdict=Verdict.PASS),)
    record = Record(
        target="trace@torchscript", verdict=Verdict.PASS, stage=Stage.DONE, symptom=Symptom.OK, numeric=numeric
    )
    monkeypatch.setattr(ParityCase, "_judged", lambda _: Judged(record))
    session = SuiteSession.at(tmp_path)
    session.today = TODAY
    spec = ModelSpec("tiny", "net.py:Net", parse_signature("x: float32[N, 6]"), tmp_path)
    expired = waiver(TODAY - dt.timedelta(days=1), check=narrowed)
    try:
        ParityCase(session, spec, parse_target("trace"), (expired,)).check_numerics()
        said = "Passed"
    except pytest.fail.Exception:
        said = "Failed"
    finally:
        session.close()
    assert said == outcome


def test_an_error_of_ours_fails_a_test_with_its_message_alone() -> None:
    with pytest.raises(pytest.fail.Exception, match="the disk is full") as caught, _told():
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.__suppress_context__, "pytest shows what an outcome was raised from"
    assert not caught.value.pytrace
    with pytest.raises(ZeroDivisionError), _told():
        raise ZeroDivisionError
