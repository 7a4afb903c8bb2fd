"""What is gathered into a report, and what must not get lost on the way."""

from __future__ import annotations

import pytest

from parity.latency.statistics import Paired
from parity.pipeline import measurements, timed_reference
from parity.records import ReferenceFacts
from parity.workers.timing import EAGER, Timings

FACTS = ReferenceFacts(
    oracle="float64", outputs=(), longest_reduction=1, jittered_copies=0, seconds=0.1, threads=1, notes=("one",)
)
BURSTS = ((0.001,), (0.001,), (0.001,))


def timings(failed: dict[str, str]) -> Timings:
    paired = {
        ("trace@torchscript", 2): [Paired(BURSTS, () if EAGER in failed else BURSTS)],
        **({} if EAGER in failed else {(EAGER, 2): [Paired(BURSTS, ())]}),
    }
    return Timings(paired, failed)


def test_eager_times_go_with_the_reference() -> None:
    made = timings({})
    facts = timed_reference(FACTS, measurements(made, 1), made)
    assert [each.batch for each in facts.latency] == [2]
    assert facts.notes == ("one",)


def test_an_eager_session_that_cannot_be_timed_is_noted_and_leaves_no_ratio() -> None:
    made = timings({EAGER: "the worker was killed by SIGKILL"})
    measured = measurements(made, 1)
    facts = timed_reference(FACTS, measured, made)
    assert facts.latency == ()
    assert facts.notes[-1].endswith("no ratio to it: the worker was killed by SIGKILL")
    assert measured["trace@torchscript"][0].ratio is None
    assert measured["trace@torchscript"][0].median_ms == pytest.approx(1.0)


def test_without_timing_nothing_is_said_of_it() -> None:
    assert timed_reference(FACTS, measurements(None, 1), None) == FACTS
