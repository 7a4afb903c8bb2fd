"""What the decisions of a target come to."""

from __future__ import annotations

from parity.arrays import Array
from parity.compare.decisions import compare_decisions
from parity.records import DecisionFinding
from tests.compare.cases import Case, store


def decisions(made: Case, *target: Array, labels: Array | None = None) -> dict[str, DecisionFinding]:
    """Findings by metric, from what the target returned as `y` in each held-out call."""
    outputs = store(made.folder, {f"h{number}": {"y": array} for number, array in enumerate(target)})
    found = compare_decisions(outputs, made.arrays, made.yardsticks, made.calls, labels)
    return {each.metric: each for each in found}
