"""Statistics of bursts: medians, percentiles with enough calls for them, and intervals that know of processes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from parity.latency.bursts import Burst
from parity.latency.seats import disturbed
from parity.records import LatencyMeasurement

RESAMPLES = 500
LEVEL = 0.95

MIN_FOR_P90 = 64
MIN_FOR_P99 = 662
"""Calls that a percentile takes: with 99 % probability, two of them at least are slower than it is."""

MIN_UNDISTURBED = 4
"""Pairs of one process that must be left for those to be left out in which somebody waited for a core."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Paired:
    """What one process of a target and one of eager took, burst by burst in the same rounds.

    `target[i]` and `eager[i]` are the bursts of round `i`; without eager there is no ratio. `peak_bytes` is the
    target's highest resident memory at this batch size, above what its process started with.
    """

    target: tuple[Burst, ...]
    eager: tuple[Burst, ...] = ()
    peak_bytes: int | None = None

    def undisturbed(self) -> Paired:
        """Without the rounds in which a burst waited for its core, if enough are left; all of them otherwise."""
        beside = self.eager or self.target
        kept = [at for at, pair in enumerate(zip(self.target, beside, strict=True)) if not any(map(disturbed, pair))]
        if len(kept) < MIN_UNDISTURBED:
            return self
        eager = tuple(self.eager[at] for at in kept) if self.eager else ()
        return replace(self, target=tuple(self.target[at] for at in kept), eager=eager)


def summarise(batch: int, threads: int, processes: Sequence[Paired], *, seed: int = 0) -> LatencyMeasurement:
    """One measurement from pairs of fresh processes.

    The ratio is the geometric mean over processes of the median over rounds of target over eager; see `interval` for
    its bounds. Percentiles are of all calls, disturbed or not: users wait for those, too.
    """
    used = [each.undisturbed() for each in processes]
    calls = np.concatenate([np.asarray(burst.times) for each in processes for burst in each.target])
    middle = interval([np.log(_medians(each.target)) for each in used], seed)
    peaks = [each.peak_bytes for each in processes if each.peak_bytes is not None]
    measured = LatencyMeasurement(
        batch=batch,
        threads=threads,
        median_ms=middle.centre * 1e3,
        median_low_ms=_scaled(middle.low),
        median_high_ms=_scaled(middle.high),
        p50_ms=float(np.median(calls)) * 1e3,
        p90_ms=_percentile(calls, 90, MIN_FOR_P90),
        p99_ms=_percentile(calls, 99, MIN_FOR_P99),
        calls=len(calls),
        needed={name: least for name, least in _LEAST.items() if len(calls) < least} or None,
        throughput=batch / middle.centre,
        seconds=sum(burst.seconds for each in processes for burst in each.target),
        n=sum(len(each.target) for each in used),
        processes=len(processes),
        peak_bytes=max(peaks, default=None),
    )
    paired = [each for each in used if each.eager]
    if not paired:
        return measured
    ratio = interval([np.log(_medians(each.target) / _medians(each.eager)) for each in paired], seed)
    return replace(measured, ratio=ratio.centre, ratio_low=ratio.low, ratio_high=ratio.high)


_LEAST = {"p90": MIN_FOR_P90, "p99": MIN_FOR_P99}


@dataclass(frozen=True)
class Interval:
    """A centre and its 95 % bounds, which are None where one process is all there is."""

    centre: float
    low: float | None = None
    high: float | None = None


def interval(logs: Sequence[Floats], seed: int = 0) -> Interval:
    """The geometric mean over processes of what their rounds' logarithms say, with bounds that resample both.

    One process may be faster than another for its whole life, so that rounds of the same process say little of the
    next release's. The standard error is the larger one of what the processes' medians say (their standard deviation
    over √P: what resampling P processes comes to) and what a bootstrap of the rounds within each says, since a few
    processes may agree by luck. Student's t with P - 1 degrees of freedom widens it for the few that there are
    ("t interval with bootstrap standard error", Hesterberg, What Teachers Should Know About the Bootstrap, 2015).

    Args:
        logs: For each process, the natural logarithm of each of its rounds; at least one each.
        seed: Of the bootstrap.
    """
    medians = np.asarray([np.median(each) for each in logs])
    centre = float(np.mean(medians))
    if len(logs) < 2:  # noqa: PLR2004  # nothing tells how another process would do
        return Interval(math.exp(centre))
    between = float(np.std(medians, ddof=1))
    rng = np.random.default_rng(seed)
    drawn = [np.median(each[rng.integers(0, len(each), (RESAMPLES, len(each)))], axis=1) for each in logs]
    within = float(np.sqrt(np.mean([np.var(each) for each in drawn])))
    half = _student(len(logs) - 1) * max(between, within) / math.sqrt(len(logs))
    return Interval(math.exp(centre), math.exp(centre - half), math.exp(centre + half))


def _student(freedom: int) -> float:
    return float(stdtrit(freedom, (1 + LEVEL) / 2))


def _medians(bursts: Sequence[Burst]) -> Floats:
    return np.asarray([np.median(burst.times) for burst in bursts])


def _percentile(calls: Floats, percent: float, least: int) -> float | None:
    return float(np.percentile(calls, percent)) * 1e3 if len(calls) >= least else None


def _scaled(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
