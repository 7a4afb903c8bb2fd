"""What a reader must know besides the verdict, in sentences that stand beside it."""

from __future__ import annotations

from parity.models.matching import MATCHED
from parity.records import LABELS, RECOMPILE_LIMIT, Report
from parity.reports.speed.lines import noise


def remarks(report: Report) -> tuple[str, ...]:
    """Everything that makes a verdict doubtful, or worth less than it looks.

    That is the report's message, an unstable reference, a doubtful match, labels that cannot be right, sizes of a
    compiled target that ran eagerly, eager without times, a noisy machine, and packages that are known not to go
    together. What a record's message says is not repeated.
    """
    unstable = report.reference.unstable
    found = [report.message] if report.message else []
    if unstable and unstable not in report.message:
        found.append(f"The reference is unstable, so nothing can be judged by it: {unstable}")
    found += [
        f"{record.target}: {result.message}"
        for record in report.records
        for result in record.behaviour
        if result.kind == MATCHED and result.message and result.message not in record.message
    ]
    found += [f"L{note[1:]}" for note in report.reference.notes if note.startswith(LABELS)]
    found += [
        f"{record.target}: {RECOMPILE_LIMIT} {record.runtime[RECOMPILE_LIMIT]}"
        for record in report.records
        if record.runtime and RECOMPILE_LIMIT in record.runtime
    ]
    if report.timing and not report.reference.latency and any(record.latency for record in report.records):
        found.append("Eager could not be timed, so no target has a ratio to it: the notes on the reference say why")
    disturbed = noise(report)
    found += [disturbed] if disturbed else []
    return (*found, *warnings(report))


def warnings(report: Report) -> tuple[str, ...]:
    """What is known to be wrong with the environment."""
    found = report.environment.get("warnings")
    return tuple(f"Environment: {each}" for each in found) if isinstance(found, list) else ()
