"""What two reports do not share is said, and what cannot be compared for it is not judged."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from parity.diffing import Change, Trend, find_changes
from parity.records import Report, TimingFacts, Verdict
from tests.diffing import made
from tests.reports import examples


def part(report: Report, part_: str, /, **changed: Any) -> Report:
    return dataclasses.replace(report, **{part_: dataclasses.replace(getattr(report, part_), **changed)})


def slower(report: Report) -> Report:
    """Half as fast again, which is worse on the same machine."""
    records = tuple(dataclasses.replace(each, latency=made.timed(1.1, 0.01)) for each in report.records)
    return dataclasses.replace(report, records=records)


def kinds(report: Report) -> list[tuple[str, str]]:
    return [(each.kind, each.name) for each in find_changes(made.report(), report).differences]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (part(made.report(), "model", weights_sha256="00" * 32), [("model", "weights")]),
        (part(made.report(), "model", code_sha256="00" * 32), [("model", "code")]),
        (part(made.report(), "model", inputs=("image: float32[N, 3, 256, 256]",)), [("model", "inputs")]),
        (part(made.report(), "model", name="resnet18-b"), [("model", "name")]),
        (part(made.report(), "samples", sha256="00" * 32), [("samples", "held-out")]),
        (part(made.report(), "samples", calibration_n=64, calibration_source="c.npz"), [("samples", "calibration")]),
        (part(made.report(), "reference", oracle="reordering"), [("reference", "oracle")]),
        (part(made.report(), "reference", unstable="0.77"), [("reference", "stability")]),
        (dataclasses.replace(made.report(), parity="0.2.0"), [("versions", "parity")]),
        (made.on(made.report(), versions={"torch": "2.15.0"}), [("versions", "torch")]),
        (made.on(made.report(), versions={"torch": "2.14.1", "onnx": "1.2"}), [("versions", "onnx")]),
        (made.on(made.report(), machine_class="another"), [("machine", "class")]),
        (made.on(made.report(), variables={"OMP_NUM_THREADS": "1"}), [("machine", "variables.OMP_NUM_THREADS")]),
        (dataclasses.replace(made.report(), settings={"threads": 2}), [("settings", "batch_sizes")]),
    ],
    ids=lambda value: None if isinstance(value, Report) else "-".join(value[0]),
)  # fmt: skip
def test_whatever_is_not_shared_is_named(changed: Report, expected: list[tuple[str, str]]) -> None:
    assert kinds(changed) == expected


def test_reports_of_one_model_on_one_machine_share_everything() -> None:
    again = dataclasses.replace(made.report(), created="2025-02-01T12:00:00+00:00")
    assert kinds(again) == []


def judged(old: Report, new: Report, what: str) -> list[Change]:
    changes = find_changes(old, new).changes
    return [change for change in changes if change.what == what and change.verdict not in {None, Trend.SAME}]


def test_times_are_compared_on_one_class_of_machine_alone() -> None:
    old, new = made.report(), slower(made.report())
    assert {change.verdict for change in judged(old, new, "latency")} == {Trend.WORSE}
    elsewhere = judged(old, made.on(new, machine_class="another"), "latency")
    assert {change.verdict for change in elsewhere} == {Trend.UNKNOWN}
    assert all("never compared across classes of machine" in change.detail for change in elsewhere)
    assert all(" ms" not in change.detail and change.change is None for change in elsewhere)


def test_absolute_times_of_two_classes_of_machine_do_not_stand_beside_each_other() -> None:
    diff = find_changes(made.report(), made.on(made.report(), machine_class="another"))
    assert [change for change in diff.changes if change.unit in {"ms", "samples/s"}] == []


def test_another_number_of_threads_is_another_cell_and_no_other_machine() -> None:
    old, new = (
        made.on(report, machine_class=f"Linux x86_64, Example CPU, 2 cores, {threads} threads")
        for report, threads in ((made.report(), 1), (slower(made.report()), 2))
    )
    assert find_changes(old, new).differences == ()
    assert {change.verdict for change in judged(old, new, "latency")} == {Trend.WORSE}


def test_what_disturbed_the_timing_is_named() -> None:
    timing = TimingFacts(seconds=60.0, burst_seconds=30.0, sittings=3, notes=("the hypervisor took 12 % of the time",))
    assert kinds(dataclasses.replace(made.report(), timing=timing)) == [("machine", "disturbed by")]
    assert kinds(dataclasses.replace(made.report(), timing=dataclasses.replace(timing, notes=()))) == []


def test_nothing_disturbs_the_timing_of_a_report_that_was_not_timed() -> None:
    timing = TimingFacts(seconds=60.0, burst_seconds=30.0, sittings=3, notes=("others ran",))
    noisy = dataclasses.replace(made.report(), timing=timing)
    untimed = dataclasses.replace(
        part(made.report(), "reference", latency=()),
        records=tuple(dataclasses.replace(each, latency=()) for each in made.report().records),
    )
    for old, new in ((untimed, noisy), (noisy, untimed)):
        diff = find_changes(old, new)
        assert diff.differences == ()
        assert next(each.detail for each in diff.changes if each.what == "latency").endswith("without --no-latency")


def test_reports_that_do_not_say_their_machine_are_not_compared_by_time() -> None:
    bare = dataclasses.replace(made.report(), environment={})
    assert {change.verdict for change in judged(bare, slower(bare), "latency")} == {Trend.UNKNOWN}


def test_of_two_models_nothing_is_judged() -> None:
    other = part(made.with_record(verdict=Verdict.FAIL), "model", name="tagger", code_sha256="00" * 32)
    diff = find_changes(made.report(), slower(other))
    assert diff.verdict is Trend.UNKNOWN
    assert made.told(diff, Trend.WORSE) == made.told(diff, Trend.BETTER) == []


def test_the_same_model_under_another_name_is_judged() -> None:
    renamed = part(slower(made.report()), "model", name="resnet18-2025-02")
    assert find_changes(made.report(), renamed).verdict is Trend.WORSE


def test_another_oracle_measures_another_floor() -> None:
    old = made.with_record(numeric=(examples.numeric(1.0),))
    new = part(made.with_record(numeric=(examples.numeric(9.9, allowance=None),)), "reference", oracle="reordering")
    assert {change.verdict for change in judged(old, new, "numeric")} == {Trend.UNKNOWN}


def test_counts_over_other_samples_cannot_be_told() -> None:
    def differing(mismatched: int) -> Report:
        numeric = examples.numeric(None, rule="exact", floor=None, mismatched=mismatched, verdict=Verdict.FAIL)
        return made.with_record(numeric=(numeric,))

    new = part(differing(9), "samples", sha256="00" * 32)
    assert {change.verdict for change in judged(differing(3), new, "numeric")} == {Trend.UNKNOWN}


@pytest.mark.parametrize(
    "relaxed",
    [{"limits": {"ratio": 100.0}}, {"waivers": {"onnx": "until 2030-01-01: known"}}],
)
def test_passing_under_other_limits_is_not_better(relaxed: dict[str, Any]) -> None:
    old = made.with_record(verdict=Verdict.FAIL, message="31 floors")
    new = dataclasses.replace(made.report(), settings={**old.settings, **relaxed})
    diff = find_changes(old, new)
    assert diff.verdict is Trend.UNKNOWN
    assert any("under other limits" in change.detail for change in diff.changes)
    assert find_changes(old, made.report()).verdict is Trend.BETTER


def test_failing_under_other_limits_is_worse_all_the_same() -> None:
    new = made.with_record(verdict=Verdict.FAIL, message="31 floors")
    new = dataclasses.replace(new, settings={**new.settings, "limits": {"ratio": 5.0}})
    assert find_changes(made.report(), new).verdict is Trend.WORSE
