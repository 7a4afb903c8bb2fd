"""Eager and every target side by side: one line each, at one batch size and number of threads."""

from __future__ import annotations

from parity.records import LatencyMeasurement, Record, ReferenceFacts, Report, Verdict
from parity.reports.numbers import ABSENT, count, milliseconds, size
from parity.reports.sections import Line, Section, without_absent
from parity.reports.speed import budgets, cells
from parity.reports.speed.lines import elsewhere, gravest, noise
from parity.reports.speed.places import EAGER, Place, at, beside, of_threads, shared

_COLUMNS = (
    "median", "p90", "p99", "samples/s", "ratio to eager", "growth / allowed", "load", "first call", "size",
    "best batch", "within budget", "peak memory",
)  # fmt: skip


def overview(report: Report) -> Section | None:
    """Eager and every target that was timed, at the place that is shared; None where nothing was timed."""
    place = shared(report)
    if place is None:
        return None
    timed = [record for record in report.records if record.latency]
    lines = (_line(report.reference, place), *(_line(record, place) for record in timed))
    budget = budgets.sweep_budget(report)
    within = "within budget" if budget is None else f"within {milliseconds(budget)}"
    disturbed = noise(report)
    return without_absent(
        Section(
            title=f"Speed at batch {place.batch}, {count(place.threads, 'thread')}",
            columns=("target", *(within if column == "within budget" else column for column in _COLUMNS)),
            lines=lines,
            judged=any(line.verdict not in {None, Verdict.SKIP} for line in lines),
            notes=(disturbed,) if disturbed else (),
        )
    )


def _line(timed: Record | ReferenceFacts, place: Place) -> Line:
    measured: LatencyMeasurement | None = at(timed.latency, place)
    started, swept = of_threads(timed.startup, place), of_threads(timed.sweep, place)
    record = timed if isinstance(timed, Record) else None
    name = record.target if record else EAGER
    other = beside(measured, place) if measured else ""
    return Line(
        what=f"{name} ({other})" if other else name,
        numbers=(
            cells.median(measured),
            cells.percentile(measured, "p90"),
            cells.percentile(measured, "p99"),
            cells.throughput(measured),
            cells.ratio(measured),
            cells.growth(measured),
            milliseconds(started.load_ms if started else None),
            milliseconds(started.first_ms if started else None),
            size(record.export.bytes if record and record.export else None),
            str(swept.best_batch) if swept else ABSENT,
            budgets.within(swept) if swept else ABSENT,
            size(measured.peak_bytes if measured else None),
        ),
        verdict=_verdict(record) if record else None,
        more=elsewhere(record, measured) if record else (),
    )


def _verdict(record: Record) -> Verdict | None:
    """The gravest verdict on the target's speed and size, whatever the batch size."""
    verdicts = {each.verdict for each in record.latency} | {each.verdict for each in record.budgets}
    return gravest(verdicts) or next((each for each in (Verdict.PASS, Verdict.SKIP) if each in verdicts), None)
