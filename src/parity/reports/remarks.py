"""What a reader must know besides the verdict, in sentences that stand beside it."""

from __future__ import annotations

from parity.models.matching import MATCHED
from parity.records import Report
from parity.reports.speed.lines import noise


def remarks(report: Report) -> tuple[str, ...]:
    """The report's message, an unstable reference, a doubtful match, a noisy machine, a known conflict of packages.

    What a record's message says is not repeated.
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
    disturbed = noise(report)
    found += [disturbed] if disturbed else []
    return (*found, *warnings(report))


def warnings(report: Report) -> tuple[str, ...]:
    """What is known to be wrong with the environment."""
    found = report.environment.get("warnings")
    return tuple(f"Environment: {each}" for each in found) if isinstance(found, list) else ()
