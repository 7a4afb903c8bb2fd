"""Everything that was measured of one target's speed, as sections: every batch size and number of threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from parity.records import (
    BudgetResult,
    LatencyMeasurement,
    LatencyResult,
    Record,
    Report,
    StartupFacts,
    SweepFacts,
    Verdict,
)
from parity.reports.numbers import ABSENT, count, milliseconds, number, seconds, size
from parity.reports.sections import Line, Section, known, told, without_absent
from parity.reports.speed import budgets, cells
from parity.reports.speed.lines import TIME_BUDGETS, noise
from parity.reports.speed.places import threads_differ, where

_TIMES = ("median", "p50", "p90", "p99", "samples/s")
_RATIOS = ("ratio to eager", "golden", "growth / allowed", "limit of the ratio")


def sections(report: Report, record: Record) -> tuple[Section, ...]:
    """The sections on the speed of `record`; those with nothing in them are left out."""
    ratios = tuple(_ratio_line(each, record.latency) for each in record.latency)
    timed = [each for each in record.budgets if each.metric in TIME_BUDGETS]
    made = (
        times_section("Latency", record.latency),
        without_absent(
            Section(
                title=_titled("Latency against eager and the golden", record.latency),
                columns=(_head(record.latency), *_RATIOS), lines=ratios, notes=_disturbed(report, record.latency),
            )
        ),
        Section(
            title="Budgets",
            columns=("budget", "measured", "95 % interval", "limit"),
            lines=tuple(_budget_line(each, record.budgets) for each in record.budgets),
            notes=_disturbed(report, timed),
        ),
        *started("Startup", record.startup),
        *swept("Sweep over batch sizes", record.sweep),
    )  # fmt: skip
    return tuple(section for section in made if section.lines)


def _disturbed(report: Report, results: Iterable[LatencyResult | BudgetResult]) -> tuple[str, ...]:
    """What disturbed the timing, where it may be why a verdict is open."""
    said = noise(report)
    return (said,) if said and any(each.verdict is Verdict.INCONCLUSIVE for each in results) else ()


def reference_sections(report: Report) -> tuple[Section, ...]:
    """The sections on eager's own speed, at every batch size and number of threads."""
    reference = report.reference
    made = (
        times_section("Latency of eager", reference.latency),
        *started("Startup of eager", reference.startup),
        *swept("Sweep of eager over batch sizes", reference.sweep),
    )
    return tuple(section for section in made if section.lines)


def times_section(title: str, results: Sequence[LatencyMeasurement]) -> Section:
    """Medians, percentiles and throughput at each batch size and number of threads."""
    lines = tuple(
        Line(
            what=_place(each, results),
            numbers=(
                cells.median(each),
                milliseconds(each.p50_ms),
                cells.percentile(each, "p90"),
                cells.percentile(each, "p99"),
                cells.throughput(each),
            ),
            more=known(_evidence(each), told("peak memory {}", each.peak_bytes, size)),
        )
        for each in results
    )
    section = Section(title=_titled(title, results), columns=(_head(results), *_TIMES), lines=lines, judged=False)
    return without_absent(section)


def started(title: str, facts: Sequence[StartupFacts]) -> tuple[Section, ...]:
    """What it takes to the first answer, for each number of threads."""
    lines = tuple(
        Line(
            what=count(each.threads, "thread"),
            numbers=(milliseconds(each.load_ms), milliseconds(each.first_ms), str(each.batch), str(each.processes)),
        )
        for each in facts
    )
    columns = ("threads", "load", "first call", "samples in it", "processes")
    return (Section(title=title, columns=columns, lines=lines, judged=False),) if lines else ()


def swept(title: str, facts: Sequence[SweepFacts]) -> tuple[Section, ...]:
    """The batch size of best throughput and the largest within a budget, for each number of threads."""
    lines = tuple(
        Line(
            what=count(each.threads, "thread"),
            numbers=(
                str(each.best_batch),
                number(each.best_throughput),
                milliseconds(each.budget_ms),
                budgets.within(each),
            ),
        )
        for each in facts
    )
    columns = ("threads", "best batch", "samples/s there", "budget of a call", "largest batch within")
    return (without_absent(Section(title=title, columns=columns, lines=lines, judged=False)),) if lines else ()


def _titled(title: str, results: Sequence[LatencyMeasurement]) -> str:
    """With the number of threads where it is the same throughout; otherwise each line has its own."""
    threads = {each.threads for each in results}
    return f"{title}, {count(threads.pop(), 'thread')}" if len(threads) == 1 else title


def _head(results: Sequence[LatencyMeasurement]) -> str:
    return "batch, threads" if threads_differ(results) else "batch"


def _place(each: LatencyMeasurement, results: Sequence[LatencyMeasurement]) -> str:
    return where(each, threads_named=threads_differ(results)).removeprefix("batch ")


def _ratio_line(result: LatencyResult, results: Sequence[LatencyResult]) -> Line:
    return Line(
        what=_place(result, results),
        numbers=(
            cells.ratio(result),
            cells.golden(result),
            cells.growth(result),
            number(result.limit),
        ),
        verdict=result.verdict,
        more=known(result.message),
    )


def _budget_line(result: BudgetResult, of: Sequence[BudgetResult]) -> Line:
    return Line(
        what=budgets.label(result, of),
        numbers=(
            budgets.written(result, result.value),
            budgets.around(result) or ABSENT,
            budgets.limit(result),
        ),
        verdict=result.verdict,
        more=known(result.message),
    )


def _evidence(each: LatencyMeasurement) -> str:
    """What the numbers rest on: bursts, calls, processes and their time."""
    calls = told(" of {} calls", each.calls, lambda calls: f"{calls:,}") or ""
    took = told(", {} in all", each.seconds, seconds) or ""
    processes = f"{each.processes} fresh process" + ("" if each.processes == 1 else "es")
    return f"{count(each.n, 'burst')}{calls} from {processes}{took}"
