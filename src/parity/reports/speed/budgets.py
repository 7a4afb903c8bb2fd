"""Absolute limits and the sweep over batch sizes, in words."""

from __future__ import annotations

from collections.abc import Sequence

from parity.records import BudgetResult, Record, Report, SweepFacts
from parity.reports.numbers import ABSENT, bounds, count, milliseconds, number, size
from parity.reports.speed.lines import briefly
from parity.reports.speed.places import EAGER, of_threads, shared, threads_differ, where

_UNITS = {"max_ms": "ms", "min_throughput": "samples/s"}
"""Of the budgets that are about time; the others are bytes."""


def label(result: BudgetResult, budgets: Sequence[BudgetResult]) -> str:
    """What a budget is for: `max_ms at batch 8, 2 threads`, `max_bytes`."""
    place = where(result, threads_named=threads_differ(budgets))
    return result.metric + (f" at {place}" if place else "")


def written(result: BudgetResult, value: float | None) -> str:
    """A value of a budget in its unit."""
    if value is None:
        return ABSENT
    unit = _UNITS.get(result.metric)
    return f"{number(value)} {unit}" if unit else size(round(value))


def limit(result: BudgetResult) -> str:
    """The limit with its direction: `at most 10 ms`."""
    return f"at {'least' if result.metric == 'min_throughput' else 'most'} {written(result, result.limit)}"


def around(result: BudgetResult) -> str:
    """The 95 % interval of what was measured, `19.1..24.4 ms`; empty where it was not sampled."""
    sampled = bounds(result.low, result.high)
    unit = _UNITS.get(result.metric, "B")
    return f"{sampled} {unit}" if sampled else ""


def text(result: BudgetResult) -> str:
    """A budget in words: its own, or what was measured and what is allowed."""
    interval = around(result)
    measured = written(result, result.value) + (f" ({interval})" if interval else "")
    return result.message or f"{measured}, {limit(result)} is allowed"


def reasons(record: Record) -> tuple[str, ...]:
    """What the record's own message does not have of budgets that failed or are undecided."""

    def name(results: Sequence[BudgetResult]) -> str:
        return f"budget {', '.join(label(each, record.budgets) for each in results)}"

    return briefly(record.budgets, record.message, name, text)


def within(facts: SweepFacts) -> str:
    """The largest batch size within a budget: `8 (p90)`, `none`, or `n/a` where no budget was given."""
    if facts.budget_ms is None:
        return ABSENT
    if facts.batch_within_budget is None:
        return "none"
    return f"{facts.batch_within_budget}" + (f" ({facts.statistic})" if facts.statistic else "")


def sweep_budget(report: Report) -> float | None:
    """The budget that the sweep over batch sizes was given, in ms; None without one."""
    given = [each.budget_ms for each in report.reference.sweep]
    given += [each.budget_ms for record in report.records for each in record.sweep]
    return next((each for each in given if each is not None), None)


def sweep_lines(report: Report) -> tuple[str, ...]:
    """Where a budget was given: for eager and each target, its largest batch size within it, and its best one.

    With several numbers of threads they are those of the place that is shown.
    """
    place = shared(report)
    found = []
    for name, facts in ((EAGER, report.reference.sweep), *((each.target, each.sweep) for each in report.records)):
        swept = of_threads(facts, place)
        if swept is None or swept.budget_ms is None:
            continue
        largest = within(swept)
        fits = "no batch size" if largest == "none" else f"up to batch {largest}"
        best = f"best at batch {swept.best_batch}, {number(swept.best_throughput)} samples/s"
        found.append(f"{name}: {fits}; {best}")
    return tuple(found)


def sweep_title(report: Report) -> str:
    """What the sweep's lines are about: `Within 50 ms a call, 2 threads`."""
    place = shared(report)
    threads = f", {count(place.threads, 'thread')}" if place is not None and place.threads_named else ""
    return f"Within {milliseconds(sweep_budget(report))} a call{threads}"
