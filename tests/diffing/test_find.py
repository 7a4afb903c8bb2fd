"""Every kind of worsening is found where it is planted, and its healthy twin is let through."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from parity.diffing import DIFF_STATUS, Trend, find_changes
from parity.golden.ratios import AGREEMENTS
from parity.records import (
    BehaviourResult,
    BudgetResult,
    GoldenResult,
    MemoryFacts,
    Report,
    ShapeResult,
    Stage,
    StartupFacts,
    SweepFacts,
    Symptom,
    TimingFacts,
    Verdict,
)
from tests.diffing import made
from tests.reports import examples

FAIL, PASS = Verdict.FAIL, Verdict.PASS


def exact(mismatched: int, verdict: Verdict = FAIL) -> Any:
    return examples.numeric(
        None, rule="exact", error=None, floor=None, limit=None, allowance=None, sqnr_db=None, mismatched=mismatched,
        verdict=verdict,
    )  # fmt: skip


def sqnr(decibels: float) -> Any:
    return examples.numeric(
        None, rule="sqnr", error=None, floor=None, limit=None, allowance=None, sqnr_db=decibels, verdict=Verdict.SKIP
    )


def shape(symptom: Symptom, verdict: Verdict) -> tuple[ShapeResult, ...]:
    return (ShapeResult(batch=2, sizes={"T": 7}, symptom=symptom, verdict=verdict, message=f"{symptom}"),)


def behaviour(verdict: Verdict) -> tuple[BehaviourResult, ...]:
    return (BehaviourResult(kind="repeatability", name="logits", verdict=verdict, message="two answers"),)


def budget(verdict: Verdict) -> tuple[BudgetResult, ...]:
    return (BudgetResult(metric="max_ms", limit=5.0, value=6.0, batch=8, threads=2, verdict=verdict, message="6 ms"),)


def golden(verdict: Verdict) -> Report:
    result = GoldenResult(kind="output", name="logits", verdict=verdict, message="8000 floors")
    return made.report(golden=(result,), verdict=verdict)


WORSENINGS: dict[str, tuple[Report, Report, str]] = {
    "a target that fails now": (
        made.with_record(),
        made.with_record(verdict=FAIL, stage=Stage.COMPARE, symptom=Symptom.MISMATCH, message="31 floors"),
        "verdict",
    ),
    "a target that crashes now": (
        made.with_record(),
        made.report(
            examples.record("trace@torchscript"),
            examples.broken(made.TARGET, Stage.RUN, Symptom.CRASH, "the worker died with SIGSEGV"),
        ),
        "verdict",
    ),
    "an error of many more floors": (
        made.with_record(numeric=(examples.numeric(1.0),)),
        made.with_record(numeric=(examples.numeric(9.5, allowance=None),)),
        "numeric",
    ),
    "an error that is not a number": (
        made.with_record(numeric=(examples.numeric(1.0),)),
        made.with_record(numeric=(examples.numeric(math.nan, allowance=None),)),
        "numeric",
    ),
    "an output that passed": (
        made.with_record(numeric=(examples.numeric(9.0),)),
        made.with_record(numeric=(examples.numeric(11.0, verdict=FAIL, message="11 floors"),)),
        "numeric",
    ),
    "an output of another dtype": (
        made.with_record(),
        made.with_record(numeric=(examples.numeric(None, rule="dtype", verdict=FAIL, detail="float64"),)),
        "numeric",
    ),
    "more integers that differ": (
        made.with_record(numeric=(exact(3),)),
        made.with_record(numeric=(exact(4),)),
        "numeric",
    ),
    "more noise of quantization": (
        made.with_record(numeric=(sqnr(34.0),)),
        made.with_record(numeric=(sqnr(29.0),)),
        "numeric",
    ),
    "less agreement": (
        made.with_record(decisions=(examples.decision(1.0),)),
        made.with_record(decisions=(examples.decision(0.95),)),
        "decision",
    ),
    "less accuracy, which no gate judges": (
        made.with_record(decisions=(examples.decision(0.93, metric="accuracy", verdict=None, limit=None),)),
        made.with_record(decisions=(examples.decision(0.90, metric="accuracy", verdict=None, limit=None),)),
        "decision",
    ),
    "agreement that its gate fails": (
        made.with_record(decisions=(examples.decision(0.981),)),
        made.with_record(decisions=(examples.decision(0.979, verdict=FAIL, message="0.979 of 0.98"),)),
        "decision",
    ),
    "a shape that does not run": (
        made.with_record(shapes=shape(Symptom.OK, PASS)),
        made.with_record(shapes=shape(Symptom.EXCEPTION, FAIL)),
        "shape",
    ),
    "answers that do not repeat": (
        made.with_record(behaviour=behaviour(PASS)),
        made.with_record(behaviour=behaviour(FAIL)),
        "behaviour",
    ),
    "a budget that is overdrawn": (
        made.with_record(budgets=budget(PASS)),
        made.with_record(budgets=budget(FAIL)),
        "budget",
    ),
    "a golden that no longer holds": (golden(PASS), golden(FAIL), "golden"),
    "a tenth more time": (
        made.with_record(latency=made.timed(0.72, 0.01)),
        made.with_record(latency=made.timed(0.72, 0.01, 1.1)),
        "latency",
    ),
    "time that its gate fails": (
        made.with_record(latency=made.timed(0.72, 0.2)),
        made.with_record(latency=examples.latency(0.8, 0.2, verdict=FAIL, message="0.8 times eager")),
        "latency",
    ),
    "more memory": (
        made.with_record(memory=MemoryFacts(peak_bytes=412000000)),
        made.with_record(memory=MemoryFacts(peak_bytes=612000000)),
        "memory",
    ),
    "more memory while timed": (
        made.with_record(latency=examples.latency(0.72, peak_bytes=200000000)),
        made.with_record(latency=examples.latency(0.72, peak_bytes=400000000)),
        "memory",
    ),
    "a larger artifact": (
        made.with_record(export=examples.export(46000000)),
        made.with_record(export=examples.export(92000000)),
        "size",
    ),
}
"""Old, new, and the kind of change that has to be worse."""

ALIKE: dict[str, tuple[Report, Report]] = {
    "an error within its resolution": (
        made.with_record(numeric=(examples.numeric(1.0),)),
        made.with_record(numeric=(examples.numeric(2.9),)),
    ),
    "an error that long sums explain": (
        made.with_record(numeric=(examples.numeric(2.0),)),
        made.with_record(numeric=(examples.numeric(7.2),)),
    ),
    "an error that was large already": (
        made.with_record(numeric=(examples.numeric(200.0, verdict=FAIL),)),
        made.with_record(numeric=(examples.numeric(500.0, verdict=FAIL),)),
    ),
    "a little more noise of quantization": (
        made.with_record(numeric=(sqnr(34.0),)),
        made.with_record(numeric=(sqnr(32.0),)),
    ),
    "time within its resolution": (
        made.with_record(latency=made.timed(0.72, 0.01)),
        made.with_record(latency=made.timed(0.72, 0.01, 1.02)),
    ),
    "a process that kept a little more memory": (
        made.with_record(memory=MemoryFacts(peak_bytes=40000000)),
        made.with_record(memory=MemoryFacts(peak_bytes=60000000)),
    ),
    "an artifact with longer names in it": (
        made.with_record(export=examples.export(6000)),
        made.with_record(export=examples.export(9000)),
    ),
    "an artifact of other bytes": (
        made.with_record(export=examples.export(sha256="00" * 32, seconds=9.0, cached=True)),
        made.with_record(),
    ),
}


@pytest.mark.parametrize("name", WORSENINGS)
def test_what_got_worse_is_found(name: str) -> None:
    old, new, what = WORSENINGS[name]
    diff = find_changes(old, new)
    assert diff.verdict is Trend.WORSE
    assert DIFF_STATUS[diff.verdict] == 1
    found = made.told(diff, Trend.WORSE)
    assert what in {change.what for change in found}
    assert {change.target for change in found if change.what not in {"golden", "verdict"}} <= {made.TARGET}


@pytest.mark.parametrize("name", WORSENINGS)
def test_what_got_worse_is_better_the_other_way_round_and_never_worse(name: str) -> None:
    old, new, what = WORSENINGS[name]
    diff = find_changes(new, old)
    assert made.told(diff, Trend.WORSE) == []
    expected = {Trend.BETTER, Trend.UNKNOWN} if name.endswith("gate fails") or "dtype" in name else {Trend.BETTER}
    assert {change.verdict for change in diff.changes if change.what == what} & expected


@pytest.mark.parametrize("name", ALIKE)
def test_what_is_within_its_resolution_is_the_same(name: str) -> None:
    old, new = ALIKE[name]
    for one, other in ((old, new), (new, old)):
        diff = find_changes(one, other)
        assert diff.verdict is Trend.SAME
        assert DIFF_STATUS[diff.verdict] == 0


@pytest.mark.parametrize(
    "report",
    [made.report(), examples.nine_targets(), examples.unstable(), examples.hazardous(), examples.explained(),
     examples.report(examples.waived())],
    ids=["two", "nine", "unstable", "hazardous", "explained", "waived"],
)  # fmt: skip
def test_a_report_against_itself_has_not_changed(report: Report) -> None:
    diff = find_changes(report, report)
    assert diff.verdict is Trend.SAME
    assert {change.verdict for change in diff.changes} <= {Trend.SAME, None}


def test_two_runs_with_noise_are_never_worse() -> None:
    """Ratios drawn within their own intervals, as wide as a shared machine has them: 200 pairs of three targets."""
    rng = np.random.default_rng(1)

    def run(noise: float) -> Report:
        return made.report(
            *(
                examples.record(
                    f"{name}@torch",
                    latency=made.timed(float(np.exp(rng.normal(-0.3, noise))), 1.96 * noise),
                    numeric=(examples.numeric(float(rng.uniform(0.8, 2.0))),),
                    memory=MemoryFacts(peak_bytes=int(rng.normal(412e6, 4e6))),
                )
                for name in ("a", "b", "c")
            )
        )

    diffs = [find_changes(run(noise), run(noise)) for noise in (0.01, 0.04) for _ in range(100)]
    assert sum(diff.verdict is Trend.WORSE for diff in diffs) <= 2


def test_a_noisy_tenth_cannot_be_told_and_says_what_would_tell() -> None:
    old = made.with_record(latency=made.timed(0.72, 0.06))
    new = made.with_record(latency=made.timed(0.72, 0.06, 1.1))
    diff = find_changes(old, new)
    assert DIFF_STATUS[diff.verdict] == 3
    (change, *_) = made.told(diff, Trend.UNKNOWN)
    assert change.where == {"batch": 1, "threads": 2}
    assert change.effort is not None
    assert 2.0 < change.effort < 20.0
    assert "eager 31.2 -> 31.2 ms" in change.detail


def test_few_samples_cannot_tell_and_say_how_many_would() -> None:
    old = made.with_record(decisions=(examples.decision(0.99, low=0.97, high=0.996),))
    new = made.with_record(decisions=(examples.decision(0.975, low=0.95, high=0.985),))
    change = made.only(old, new, Trend.UNKNOWN)
    assert change.effort is not None
    assert 1.1 < change.effort < 10.0
    assert "flipped: 5 of 540 -> 14 of 540" in change.detail


@pytest.mark.parametrize(("targets", "trend"), [(1, Trend.WORSE), (30, Trend.UNKNOWN)])
def test_a_loss_that_one_target_alone_would_have_may_be_chance_among_many(targets: int, trend: Trend) -> None:
    def run(value: float, low: float, high: float) -> Report:
        names = [f"t{number}@torch" for number in range(targets)]
        lost = examples.decision(value, low=low, high=high)
        kept = [examples.decision(0.97 + number / 1e4, low=0.95, high=0.985) for number in range(targets - 1)]
        if value < 0.96:
            kept = [dataclasses.replace(each, value=each.value + 1e-5) for each in kept]
        decisions = [lost, *kept]
        return made.report(
            *(examples.record(name, decisions=(each,)) for name, each in zip(names, decisions, strict=True))
        )

    diff = find_changes(run(0.97, 0.95, 0.985), run(0.94, 0.92, 0.955))
    (change,) = (each for each in diff.changes if each.what == "decision" and each.target == "t0@torch")
    assert change.verdict is trend
    assert ("one of 30 comparisons may move as far by chance" in change.detail) is (trend is Trend.UNKNOWN)


@pytest.mark.parametrize("lost", ["numeric", "decisions", "latency"])
def test_what_a_target_that_ran_to_its_end_no_longer_has_cannot_be_told(lost: str) -> None:
    found = made.told(find_changes(made.with_record(), made.with_record(**{lost: ()})), Trend.UNKNOWN)
    assert {change.what for change in found} == {lost.removesuffix("s")}
    assert all("not in the new report" in change.detail for change in found)


def test_a_ratio_that_is_gone_cannot_be_told() -> None:
    """Eager could not be timed, and the target was."""
    bare = tuple(
        dataclasses.replace(each, ratio=None, ratio_low=None, ratio_high=None) for each in examples.latency(0.72)
    )
    found = made.told(find_changes(made.with_record(), made.with_record(latency=bare)), Trend.UNKNOWN)
    assert [change.what for change in found] == ["latency"] * 3
    assert find_changes(made.with_record(latency=bare), made.with_record()).verdict is Trend.SAME


def test_a_ratio_without_an_interval_cannot_be_told() -> None:
    single = examples.latency(0.9, ratio_low=None, ratio_high=None, processes=1)
    found = made.told(find_changes(made.with_record(), made.with_record(latency=single)), Trend.UNKNOWN)
    assert all("no interval: longer timing would give one" in change.detail for change in found)
    assert len(found) == 3


def test_equal_shares_of_the_same_samples_are_the_same_however_few_there_are() -> None:
    few = examples.decision(1.0, low=0.7, high=1.0, n=9)
    again = dataclasses.replace(few, ties=2)
    assert find_changes(made.with_record(decisions=(few,)), made.with_record(decisions=(again,))).verdict is Trend.SAME


def test_metrics_that_no_gate_judges_are_information_without_an_interval() -> None:
    def lowest(value: float) -> Report:
        metric = examples.decision(value, metric="cosine_min", low=None, high=None, limit=None, verdict=None)
        return made.with_record(decisions=(metric,))

    diff = find_changes(lowest(0.99), lowest(0.90))
    assert diff.verdict is Trend.SAME
    assert any(change.where.get("metric") == "cosine_min" for change in made.told(diff, None))


@pytest.mark.parametrize("metric", sorted(AGREEMENTS))
def test_one_sample_alone_cannot_tell(metric: str) -> None:
    def one(value: float) -> Report:
        return made.with_record(decisions=(examples.decision(value, metric=metric, low=None, high=None, n=1),))

    assert "no interval" in made.only(one(1.0), one(0.9), Trend.UNKNOWN).detail


def test_absolute_times_are_information() -> None:
    def started(ms: float) -> Report:
        startup = (StartupFacts(threads=2, batch=8, load_ms=ms, first_ms=ms, processes=3),)
        sweep = (SweepFacts(threads=2, best_batch=round(ms), best_throughput=ms),)
        return made.with_record(startup=startup, sweep=sweep)

    diff = find_changes(started(100.0), started(900.0))
    assert diff.verdict is Trend.SAME
    facts = [
        (change.what, change.where.get("time")) for change in made.told(diff, None) if change.target != "reference"
    ]
    assert facts == [("startup", "load"), ("startup", "first"), ("throughput", None), ("throughput", None)]


def test_a_target_that_is_gone_cannot_be_told_and_a_new_one_is_information() -> None:
    two, one = made.report(), made.report(examples.record("trace@torchscript"))
    assert "gone" in made.only(two, one, Trend.UNKNOWN).detail
    diff = find_changes(one, two)
    assert diff.verdict is Trend.SAME
    assert any("new: the old report has no such target" in change.detail for change in made.told(diff, None))


def test_a_new_target_that_fails_has_nothing_to_be_held_against() -> None:
    old = made.report(examples.record("trace@torchscript"), verdict=FAIL)
    new = made.report(examples.record("trace@torchscript"), examples.record("onnx@onnxruntime", verdict=FAIL))
    assert made.only(old, new, Trend.UNKNOWN).target == "onnx@onnxruntime"


def test_what_a_failed_target_no_longer_has_is_not_listed_besides() -> None:
    old, new, _ = WORSENINGS["a target that crashes now"]
    changes = [change for change in find_changes(old, new).changes if change.target == made.TARGET]
    assert [change.what for change in changes] == ["verdict"]


def test_a_shape_that_is_no_longer_judged_cannot_be_told() -> None:
    change = made.only(made.with_record(shapes=shape(Symptom.OK, PASS)), made.with_record(shapes=()), Trend.UNKNOWN)
    assert change.where == {"batch": 2, "T": 7}


@pytest.mark.parametrize("swap", [False, True])
def test_a_report_that_was_not_timed_cannot_tell_once_and_for_all(*, swap: bool) -> None:
    bare = made.report(examples.record("trace@torchscript", latency=()), examples.record(made.TARGET, latency=()))
    bare = dataclasses.replace(bare, reference=dataclasses.replace(bare.reference, latency=()))
    old, new = (bare, made.report()) if swap else (made.report(), bare)
    change = made.only(old, new, Trend.UNKNOWN)
    assert change.target is None
    assert "without --no-latency" in change.detail


def ratio(ratio: float, slower: float, code: str = "a" * 64, *disturbances: str) -> Report:
    """A target that takes 30 ms times `slower`, whatever its ratio to eager."""
    moved = tuple(dataclasses.replace(each, median_ms=30.0 * slower) for each in made.timed(ratio, 0.01))
    report = made.with_record(latency=moved)
    timing = TimingFacts(seconds=60.0, burst_seconds=30.0, sittings=3, notes=disturbances)
    return dataclasses.replace(report, model=dataclasses.replace(report.model, code_sha256=code), timing=timing)


@pytest.mark.parametrize(("code", "disturbances"), [("b" * 64, ()), ("a" * 64, ("other processes used 77 %",))])
def test_a_ratio_that_moved_with_eager_alone_cannot_be_told(code: str, disturbances: tuple[str, ...]) -> None:
    """Eager takes longer, for its code or for what else ran, and the target does not: its ratio alone is better."""
    old, new = ratio(0.72, 1.0), ratio(0.55, 0.98, code, *disturbances)
    for diff in (find_changes(old, new), find_changes(new, old)):
        assert made.told(diff, Trend.BETTER) == made.told(diff, Trend.WORSE) == []
        assert {change.what for change in made.told(diff, Trend.UNKNOWN)} == {"latency"}
        assert all("eager moved" in change.detail for change in made.told(diff, Trend.UNKNOWN))
    faster = ratio(0.55, 0.8, code, *disturbances)
    assert find_changes(old, faster).verdict is Trend.BETTER
    assert find_changes(faster, old).verdict is Trend.WORSE


def test_a_machine_that_is_slower_as_a_whole_moves_no_ratio() -> None:
    """Beside the same eager model and undisturbed, the ratio is what counts, and not the time."""
    assert find_changes(ratio(0.72, 1.0), ratio(0.72, 1.3)).verdict is Trend.SAME
    assert find_changes(ratio(0.72, 1.0), ratio(0.9, 0.95)).verdict is Trend.WORSE


@pytest.mark.parametrize(
    ("then", "now"),
    [(PASS, Verdict.INCONCLUSIVE), (PASS, Verdict.SKIP), (FAIL, Verdict.INCONCLUSIVE), (FAIL, Verdict.SKIP)],
)
def test_a_verdict_that_is_no_longer_reached_cannot_be_told(then: Verdict, now: Verdict) -> None:
    old, new = made.with_record(verdict=then), made.with_record(verdict=now, message="too few samples")
    diff = find_changes(old, new)
    assert diff.verdict is Trend.UNKNOWN
    assert any("too few samples" in change.detail for change in diff.changes)


def test_a_target_that_fails_in_another_way_cannot_be_told() -> None:
    old = made.with_record(verdict=FAIL, stage=Stage.COMPARE, symptom=Symptom.MISMATCH)
    new = made.with_record(verdict=FAIL, stage=Stage.EXPORT, symptom=Symptom.EXCEPTION, message="raised")
    change = made.only(old, new, Trend.UNKNOWN)
    assert (change.old and change.old.value, change.new and change.new.value) == (
        "fail (compare/mismatch)",
        "fail (export/exception)",
    )
