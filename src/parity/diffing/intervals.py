"""Intervals of a change from the intervals of both sides, and what they say together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from parity.compare.decisions.statistics import CONFIDENCE
from parity.diffing.changes import Reading, Trend
from parity.gates.latency import Baseline
from parity.gates.latency import grown as growth_over
from parity.records import LatencyMeasurement

LATENCY_MATTERS = 1.05
"""The smallest growth of a latency ratio that matters: half of what the gate lets through by default, so that what
would use up the gate is seen a release before. It covers what no interval of one run holds as well: the layout of
memory alone moves a program's time by some per cent from build to build (Mytkowicz et al., "Producing wrong data
without doing anything obviously wrong", ASPLOS 2009). And it keeps chance out of a report with dozens of cells: of
pairs of equal reports with 27 cells, fewer than 3 in 100 have one that is worse, at 3 % of noise between processes."""

DECISIONS_MATTER = 0.01
"""The smallest change of a share of decisions that matters: half of what the gate lets through by default."""

HOPELESS = 100.0
"""So many times the evidence is nothing that anybody gathers: a quieter machine is cheaper, and other samples are."""

LEAST_EFFORT = 1.1
"""No less is asked for: an interval that is too wide by a hair is not narrower by a hair the next time."""


@dataclass(frozen=True)
class Told:
    """What an interval says of a change.

    Attributes:
        trend: Towards a larger number (`WORSE` where more is worse), a smaller one, the same, or not to be told.
        by_chance: Whether the interval alone would have said more, and among so many comparisons cannot.
        effort: How many times the evidence would tell, or None where no amount that anybody would gather does.
    """

    trend: Trend
    by_chance: bool = False
    effort: float | None = None


def grown(old: LatencyMeasurement, new: LatencyMeasurement) -> Reading | None:
    """The new ratio to eager over the old one as the gate has it over a golden's; None where one has no ratio.

    Without an interval where either has none: the gate may take a golden's ratio for certain, and a report's is not.
    """
    if not old.ratio or not new.ratio:
        return None
    growth = growth_over(new, Baseline(old.ratio, old.ratio_low, old.ratio_high))
    if growth is None or old.ratio_low is None or old.ratio_high is None:
        return Reading(value=new.ratio / old.ratio)
    return Reading(value=growth.value, low=growth.low, high=growth.high)


def moved(old: Reading, new: Reading) -> Reading:
    """New minus old, with its 95 % interval; without one where a side has none.

    The distances from each value to the end of its interval are joined as root of the sum of squares, on either
    side for itself, so that the result may be as lopsided as the intervals are. For proportions with Wilson
    intervals this is method 10 of Newcombe, "Interval estimation for the difference between independent proportions",
    Statistics in Medicine 17, 1998; for other intervals see Zou and Donner, "Construction of confidence limits about
    effect measures", Statistics in Medicine 27, 2008. It takes both sides as independent. Where the same
    samples were judged twice they mostly agree or disagree on both sides, and the interval is wider than it had to
    be: a correlation would narrow it, but two reports have the margins alone, and not how samples pair.
    """
    value = float(new.value) - float(old.value)
    if old.low is None or old.high is None or new.low is None or new.high is None:
        return Reading(value=value)
    below = math.hypot(float(new.value) - new.low, old.high - float(old.value))
    above = math.hypot(new.high - float(new.value), float(old.value) - old.low)
    return Reading(value=value, low=value - below, high=value + above)


def widening(comparisons: int) -> float:
    """How much wider an interval has to be for all of so many to hold together at 95 % (Dunn, 1961, after Bonferroni).

    A loss of decisions counts from nothing, so that of two draws of the same thing one cell in forty would be worse by
    chance, and a report has dozens of them.
    """
    normal = NormalDist()
    tail = (1 - CONFIDENCE) / 2
    return normal.inv_cdf(1 - tail / max(comparisons, 1)) / normal.inv_cdf(1 - tail)


def read_growth(growth: Reading, least: float) -> Told:
    """What the interval of a growth says: more is worse. `least` is the smallest factor that matters."""
    return _read(_logarithm(growth), beyond=math.log(least), within=math.log(least), wider=1.0)


def read_gain(gain: Reading, least: float, wider: float) -> Told:
    """What the interval of a difference says: less is worse. A loss counts from nothing; `least` is still the same."""
    loss = Reading(value=-float(gain.value), low=_minus(gain.high), high=_minus(gain.low))
    return _read(loss, beyond=0.0, within=least, wider=wider)


def _read(change: Reading, *, beyond: float, within: float, wider: float) -> Told:
    """Worse where the widened interval lies above `beyond`, the same where the interval lies `within` on both sides."""
    value = float(change.value)
    if change.low is None or change.high is None:
        return Told(Trend.UNKNOWN)
    below, above = value - change.low, change.high - value
    if value - wider * below > beyond:
        return Told(Trend.WORSE)
    if value + wider * above < -beyond:
        return Told(Trend.BETTER)
    if -within <= change.low and change.high <= within:
        return Told(Trend.SAME)
    by_chance = change.low > beyond or change.high < -beyond
    return Told(Trend.UNKNOWN, by_chance=by_chance, effort=_effort(value, (below, above), beyond, within, wider))


def _effort(value: float, arms: tuple[float, float], beyond: float, within: float, wider: float) -> float | None:
    """How many times the evidence would tell: an interval narrows with the square root of what it rests on."""
    size = abs(value)
    # Of the two arms, one points to no change at all, the other away from it.
    inner, outer = arms[::-1] if value < 0 else arms
    found = [wider * inner / (size - beyond)] if size > beyond else []
    found += [max(outer / (within - size), inner / (within + size))] if size < within else []
    times = min(found, default=math.inf) ** 2
    return max(times, LEAST_EFFORT) if times <= HOPELESS else None


def _logarithm(reading: Reading) -> Reading:
    low, high = reading.low, reading.high
    return Reading(
        value=math.log(float(reading.value)),
        low=None if low is None or low <= 0 else math.log(low),
        high=None if high is None or high <= 0 else math.log(high),
    )


def _minus(value: float | None) -> float | None:
    return None if value is None else -value
