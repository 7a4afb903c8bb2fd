"""Statistics of bursts: medians, percentiles with enough calls for them, and the ratio's interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from parity.records import LatencyMeasurement

RESAMPLES = 2000
MIN_FOR_P90 = 64
"""Below it the 90th percentile is one of the few slowest calls, and says more of luck than of the target."""

_BOUNDS = (2.5, 97.5)


@dataclass(frozen=True)
class Paired:
    """What one process of a target and one of eager took, burst by burst in the same rounds.

    `target[i]` and `eager[i]` hold the times of the calls of round `i`, in seconds.
    """

    target: tuple[tuple[float, ...], ...]
    eager: tuple[tuple[float, ...], ...]


def summarise(batch: int, threads: int, processes: Sequence[Paired], *, seed: int = 0) -> LatencyMeasurement:
    """One measurement from several pairs of fresh processes.

    The ratio is the median over rounds of target over eager. Its interval is a bootstrap over paired
    rounds within each process; where there are several processes it is widened to the spread between
    them, since one process can be faster than another for its whole life.
    """
    calls = np.concatenate([np.concatenate([np.asarray(burst) for burst in each.target]) for each in processes])
    median = float(np.median(calls))
    measured = LatencyMeasurement(
        batch=batch,
        threads=threads,
        median_ms=median * 1e3,
        p90_ms=float(np.percentile(calls, 90)) * 1e3 if len(calls) >= MIN_FOR_P90 else None,
        throughput=batch / median,
        n=sum(len(each.target) for each in processes),
        processes=len(processes),
    )
    logs = [_log_ratios(each) for each in processes if each.eager]
    if not logs or min(map(len, logs)) < 2:  # noqa: PLR2004  # one round has no spread
        return measured
    ratio, low, high = _interval(logs, seed)
    return replace(measured, ratio=ratio, ratio_low=low, ratio_high=high)


def _log_ratios(paired: Paired) -> npt.NDArray[np.float64]:
    pairs = zip(paired.target, paired.eager, strict=True)
    return np.asarray([np.log(np.median(target) / np.median(eager)) for target, eager in pairs])


def _interval(logs: Sequence[npt.NDArray[np.float64]], seed: int) -> tuple[float, float, float]:
    rng = np.random.default_rng(seed)
    medians = [float(np.median(each)) for each in logs]
    drawn = [np.median(each[rng.integers(0, len(each), (RESAMPLES, len(each)))], axis=1) for each in logs]
    low, high = (float(bound) for bound in np.percentile(np.mean(drawn, axis=0), _BOUNDS))
    centre = float(np.mean(medians))
    return float(np.exp(centre)), float(np.exp(min(low, *medians, centre))), float(np.exp(max(high, *medians, centre)))
