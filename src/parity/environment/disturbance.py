"""What the machine did while something was timed, and what of that makes the times doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from parity.environment.state import MachineState, ProcessorTime
from parity.records import MachineFacts

_N = TypeVar("_N", int, float)

SHORTEST_SECONDS = 1.0
"""Under this, shares are left out: the kernel counts in hundredths of a second, and one of them would be a percent."""

OTHERS_LIMIT = 0.05
"""Share of the processors' time that other processes may use. As much makes a call that needs all processors about 5 %
slower, half of the tenth that timings are to tell."""

STEAL_LIMIT = 0.02
"""Share that a hypervisor may give to others. It is less than what processes may use, since it is only taken while
there is something to do, and by whole time slices: the calls that it hits take many times as long."""

CLOCK_LIMIT = 1.05
"""How far the fastest processor's clock may be from itself, as a ratio: times follow it, so 5 % as well."""

THERMAL_LIMIT = 0
"""Times that heat may slow a processor down: every one says that what ran later ran at another clock."""

QUOTA_LIMIT = 0.01
"""Share of the time for which a quota may hold threads back. A quota stops a process for most of a 100 ms period at
once, so that a percent of the time is one such stop in 10 s, far outside of what the calls around it take."""


def changes(before: MachineState, after: MachineState, *, own_cpu_seconds: float) -> MachineFacts:
    """What the machine did between two snapshots.

    Args:
        before: The earlier one.
        after: The later one.
        own_cpu_seconds: Processor time that parity's own processes used between them, in seconds, such as the
            difference of two `cpu_seconds`. What is left out of it counts as used by others.
    """
    seconds = max(0.0, after.time - before.time)
    usable = (before.usable or frozenset()) & (after.usable or frozenset())
    other, stolen = _shares(before, after, usable, own_cpu_seconds) if seconds >= SHORTEST_SECONDS else (None, None)
    clocks = [fastest for state in (before, after) if (fastest := _fastest(state)) is not None]
    governors = after.governors or before.governors
    return MachineFacts(
        seconds=seconds,
        cores=len(usable) or None,
        load=after.load[0] if after.load else None,
        steal_share=stolen,
        other_share=other,
        frequency_mhz_low=min(clocks, default=None),
        frequency_mhz_high=max(clocks, default=None),
        governor=", ".join(governors) if governors else None,
        throttled=_events(before, after),
        throttled_periods=_grown(before.quota_periods, after.quota_periods),
        throttled_seconds=_grown(before.quota_seconds, after.quota_seconds),
    )


def noise(facts: MachineFacts) -> tuple[str, ...]:
    """What makes timings on it doubtful, each with its figure and what to do; empty for a quiet machine."""
    return (*_others(facts), *_steal(facts), *_heat(facts), *_clock(facts), *_quota(facts))


def _shares(
    before: MachineState, after: MachineState, usable: Iterable[int], own: float
) -> tuple[float, float] | tuple[None, None]:
    """What others used, and what was stolen; None where the counts stand still, as some sandboxes have them."""
    earlier, later = before.processors or {}, after.processors or {}
    spent = [_spent(earlier[number], later[number]) for number in usable]
    whole = sum(each.busy + each.idle + each.steal for each in spent)
    if whole <= 0:
        return None, None
    busy = sum(each.busy for each in spent)
    return max(0.0, busy - own) / whole, sum(each.steal for each in spent) / whole


def _spent(earlier: ProcessorTime, later: ProcessorTime) -> ProcessorTime:
    """Counts of idling are known to step back at times, which is no time at all."""
    return ProcessorTime(
        busy=max(0.0, later.busy - earlier.busy),
        idle=max(0.0, later.idle - earlier.idle),
        steal=max(0.0, later.steal - earlier.steal),
    )


def _fastest(state: MachineState) -> float | None:
    """The clock of the usable processor with the highest: one that idles says nothing of those that work."""
    clocks = state.frequencies_mhz or {}
    return max((mhz for number, mhz in clocks.items() if state.usable is None or number in state.usable), default=None)


def _events(before: MachineState, after: MachineState) -> int | None:
    """Of the processor with most: one event of a package is counted by each of its processors."""
    earlier, later = before.thermal_events or {}, after.thermal_events or {}
    both = earlier.keys() & later.keys()
    return max((max(0, later[number] - earlier[number]) for number in both), default=None)


def _grown(earlier: _N | None, later: _N | None) -> _N | None:
    return None if earlier is None or later is None else max(later - earlier, type(later)(0))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _others(facts: MachineFacts) -> Iterator[str]:
    if facts.other_share is not None and facts.other_share > OTHERS_LIMIT:
        yield (
            f"other processes used {_percent(facts.other_share)} of the processors' time, where "
            f"{_percent(OTHERS_LIMIT)} does little harm: end them, or time where nothing else runs"
        )


def _steal(facts: MachineFacts) -> Iterator[str]:
    if facts.steal_share is not None and facts.steal_share > STEAL_LIMIT:
        yield (
            f"the hypervisor gave {_percent(facts.steal_share)} of the processors' time to other machines, where "
            f"{_percent(STEAL_LIMIT)} does little harm: time on a machine that shares its processors with no other"
        )


def _heat(facts: MachineFacts) -> Iterator[str]:
    if facts.throttled is not None and facts.throttled > THERMAL_LIMIT:
        times = "once" if facts.throttled == 1 else f"{facts.throttled} times"
        yield f"heat slowed a processor down {times}: cool the machine better, or bound its clock and its power"


def _clock(facts: MachineFacts) -> Iterator[str]:
    """A governor is worth a word where the clock really moved; elsewhere it costs nothing."""
    low, high, governor = facts.frequency_mhz_low, facts.frequency_mhz_high, facts.governor
    if low and high and governor and governor != "performance" and high / low > CLOCK_LIMIT:
        yield (
            f"the clock moved between {low:.0f} and {high:.0f} MHz under the governor {governor}: "
            "cpupower frequency-set -g performance"
        )


def _quota(facts: MachineFacts) -> Iterator[str]:
    held = facts.throttled_seconds
    if held is not None and held > QUOTA_LIMIT * facts.seconds:
        yield (
            f"the control group's quota held threads back for {held:.1f} s within {facts.seconds:.1f} s: give the "
            "container more processors, or ask for fewer threads with --threads"
        )
