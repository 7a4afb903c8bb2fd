"""A run held against what was approved: findings, then the gate's verdict on each."""

from __future__ import annotations

from collections.abc import Iterable

from parity.gates.golden import judge_golden
from parity.golden.compare import compare_golden
from parity.golden.evidence import Bench
from parity.golden.record import Golden
from parity.records import GoldenResult, Record, Verdict, worst


def check_golden(golden: Golden, records: Iterable[Record], bench: Bench) -> tuple[GoldenResult, ...]:
    """One result for each output of the reference, for each thing that moved, and for each record's target.

    Raises:
        GoldenError: the golden is of another model.
    """
    evidence = bench.evidence()
    return judge_golden(compare_golden(golden, records, evidence), bench.spec.limits, evidence.model.name)


def golden_verdict(results: Iterable[GoldenResult]) -> Verdict:
    """The verdict of all results together; those for information do not count."""
    return worst(result.verdict for result in results if result.verdict is not None)


def check_case(golden: Golden, record: Record, bench: Bench) -> tuple[Verdict, str]:
    """The verdict on the reference, with this one target's numbers beside the golden's in the message."""
    results = check_golden(golden, [record], bench)
    verdict = golden_verdict(results)
    told = [each.message for each in results if each.verdict is verdict]
    told += [each.message for each in results if each.verdict is None and each.moved]
    return verdict, "\n".join(told)
