"""Counts over all networks: what each rule found, and what it refused without cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.faults.architectures import ARCHITECTURES
from benchmarks.faults.results import HealthyCell, NetworkResult, PlantedFault
from benchmarks.faults.rules import RULES
from parity.models.spec import Limits
from parity.records import Verdict

SMALLEST_EFFECT = 1e-5
"""A fault that moves the outputs by no more than this, relative, is not counted: rounding may move them as far."""

OTHER_LIMITS = (5.0, 3.0)
"""What the gate would find at these limits, from the same ratios."""

_FAILED, _OPEN = Verdict.FAIL.value, Verdict.INCONCLUSIVE.value

GATE = f"parity, the default: {Limits().ratio:g} floors"


@dataclass(frozen=True)
class Tally:
    """What one rule did: faults found of those counted, healthy cells refused of all, and faults left inconclusive."""

    rule: str
    found: int
    faults: int
    alarms: int
    healthy: int
    left_open: int = 0

    @property
    def share(self) -> float:
        """Share of the faults that was found."""
        return self.found / self.faults if self.faults else 0.0


@dataclass(frozen=True)
class Summary:
    """Everything that the tables show.

    Faults and cells of networks that round their own activations are in `apart` and in nothing else.
    """

    architectures: int
    networks: int
    rules: tuple[Tally, ...]
    families: Mapping[str, Tally]
    targets: Mapping[str, tuple[float, ...]]
    missed: tuple[PlantedFault, ...]
    alarmed: tuple[tuple[str, HealthyCell], ...]
    undecided: int
    without_effect: tuple[PlantedFault, ...]
    not_running: tuple[PlantedFault, ...]
    alike: int
    apart: tuple[Tally, ...]


def summarise(results: Sequence[NetworkResult]) -> Summary:
    """Count over the results of all networks."""
    rounding = {each.name for each in ARCHITECTURES if each.rounds}
    smooth = [each for each in results if each.network not in rounding]
    faults = [fault for each in smooth for fault in each.faults]
    counted = [fault for fault in faults if counts(fault)]
    cells = [(each.network, cell) for each in smooth for cell in each.cells if cell.like is None]
    healthy = [cell for _, cell in cells]
    stepping = [each for each in results if each.network in rounding]
    families = {fault.family: [one for one in counted if one.family == fault.family] for fault in counted}
    targets: dict[str, list[float]] = {}
    for cell in healthy:
        targets.setdefault(cell.target, []).append(needed(cell))
    return Summary(
        architectures=len({each.base for each in smooth}),
        networks=len(smooth),
        rules=_tallies(counted, healthy),
        families={name: _gate(GATE, some, []) for name, some in sorted(families.items())},
        targets={name: tuple(ratios) for name, ratios in targets.items()},
        missed=tuple(fault for fault in counted if not found(fault)),
        alarmed=tuple((network, cell) for network, cell in cells if cell.judged.verdict == _FAILED),
        undecided=sum(cell.judged.verdict == _OPEN for cell in healthy),
        without_effect=tuple(fault for fault in faults if fault.problem is None and not counts(fault)),
        not_running=tuple(fault for fault in faults if fault.problem is not None),
        alike=sum(cell.like is not None for each in smooth for cell in each.cells),
        apart=_tallies(
            [fault for each in stepping for fault in each.faults if counts(fault)],
            [cell for each in stepping for cell in each.cells if cell.like is None],
        ),
    )


def counts(fault: PlantedFault) -> bool:
    """Whether the edited graph ran and its outputs moved enough."""
    return fault.problem is None and (fault.effect is None or fault.effect > SMALLEST_EFFECT)


def found(fault: PlantedFault) -> bool:
    """Whether the gate failed it; anything else lets it pass."""
    return fault.judged is not None and fault.judged.verdict == _FAILED


def needed(each: HealthyCell | PlantedFault) -> float:
    """The limit in floors that lets it pass."""
    ratio = each.judged.needed if each.judged else None
    return float("inf") if ratio is None else ratio


def _tallies(faults: Sequence[PlantedFault], healthy: Sequence[HealthyCell]) -> tuple[Tally, ...]:
    others = (
        Tally(
            f"parity at {limit:g} floors",
            sum(needed(fault) > limit for fault in faults), len(faults),
            sum(needed(cell) > limit for cell in healthy), len(healthy),
        )
        for limit in OTHER_LIMITS
    )  # fmt: skip
    fixed = (
        Tally(
            rule,
            sum(bool(fault.refused and fault.refused[rule]) for fault in faults), len(faults),
            sum(cell.refused[rule] for cell in healthy), len(healthy),
        )
        for rule in RULES
    )  # fmt: skip
    return (_gate(GATE, faults, healthy), *others, *fixed)


def _gate(rule: str, faults: Sequence[PlantedFault], healthy: Sequence[HealthyCell]) -> Tally:
    alarms = sum(cell.judged.verdict == _FAILED for cell in healthy)
    left_open = sum(each.judged is not None and each.judged.verdict == _OPEN for each in faults)
    return Tally(rule, sum(map(found, faults)), len(faults), alarms, len(healthy), left_open)
