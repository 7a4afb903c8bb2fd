"""Intervals of what decisions are counted into: proportions, paired differences, and means over samples."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from parity.compare.errors import Floats

CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
_HOPELESS = 10**9

RESAMPLES = 1000
"""Bootstrap resamples: the 2.5th percentile of so many is off by 0.5 % of the distribution, one in twenty."""

_SEED = 0
_DRAWN = 1_000_000
"""Counts that are held at once: 8 MB."""


def wilson(successes: float, n: float) -> tuple[float, float]:
    """The Wilson score interval of a proportion at 95 % (Wilson, 1927)."""
    if n <= 0:
        return 0.0, 1.0
    share = successes / n
    centre = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    # At the ends the bound is exact, and rounding must not say otherwise.
    low = 0.0 if successes <= 0 else max(centre - half, 0.0)
    high = 1.0 if successes >= n else min(centre + half, 1.0)
    return low, high


def needed_for(share: float, limit: float) -> int | None:
    """How many decisions would settle on which side of the limit this share lies; None where none would."""

    def settled(n: int) -> bool:
        low, high = wilson(share * n, n)
        return low >= limit or high < limit

    if share == limit:
        return None
    enough = 1
    while not settled(enough):
        enough *= 2
        if enough > _HOPELESS:
            return None
    least = enough // 2 + 1
    return least + bisect.bisect_left(range(least, enough), True, key=settled)  # noqa: FBT003  # what is looked for


def needed_by_width(value: float, low: float, high: float, limit: float, n: int) -> int | None:
    """The same for an interval that narrows with the square root of the number of samples; None where none would."""
    if value == limit:
        return None
    half = value - low if value > limit else high - value
    needed = math.ceil(n * (half / (value - limit)) ** 2)
    return None if needed > _HOPELESS else max(needed, n + 1)


def effective(sizes: Floats, agree: Floats) -> float:
    """How many independent decisions as many within samples are worth: their number over the design effect.

    Decisions within one sample (pixels, tokens) are not independent. The effective number is
    `p (1 - p) / var(p)` with the variance between samples (Kish, 1965), at least the number of samples and
    at most the number of decisions. Where all samples agree alike there is no variance to learn from, and a
    sample counts once.

    Args:
        sizes: Decisions in each sample, float64[samples].
        agree: Those of them that agree, float64[samples].
    """
    total, count = float(sizes.sum()), len(sizes)
    if count >= total:
        return total
    share = float(agree.sum()) / total
    if count < 2 or share in (0.0, 1.0):  # noqa: PLR2004  # a variance needs two
        return float(count)
    variance = float(np.square(agree - share * sizes).sum()) * count / (count - 1) / total**2
    return float(np.clip(share * (1 - share) / variance, count, total)) if variance > 0 else float(count)


def paired_difference(only_target: int, only_reference: int, both: int, neither: int) -> tuple[float, float, float]:
    """The difference of two proportions of the same samples, target minus reference, with its 95 % interval.

    The interval is method 10 of Newcombe, "Improved confidence intervals for the difference between binomial
    proportions based on paired data", Statistics in Medicine 17, 1998: the Wilson intervals of the two
    proportions, joined with the correlation that the pairs show.

    Args:
        only_target: Samples that the target alone gets right.
        only_reference: Samples that the reference alone gets right.
        both: Samples that both get right.
        neither: Samples that neither does.

    Returns:
        The difference, and the lower and upper end of its interval.
    """
    n = only_target + only_reference + both + neither
    if n == 0:
        return 0.0, -1.0, 1.0
    one, other = (both + only_target) / n, (both + only_reference) / n
    low_one, high_one = wilson(both + only_target, n)
    low_other, high_other = wilson(both + only_reference, n)
    margins = (both + only_target) * (only_reference + neither) * (both + only_reference) * (only_target + neither)
    phi = 0.0
    if margins > 0:
        cross: float = both * neither - only_target * only_reference
        # The correction for continuity applies to a positive correlation alone.
        cross = max(cross - n / 2, 0) if cross > 0 else cross
        phi = cross / math.sqrt(margins)
    down, up = one - low_one, high_other - other
    below = math.sqrt(max(down**2 - 2 * phi * down * up + up**2, 0.0))
    up, down = high_one - one, other - low_other
    above = math.sqrt(max(up**2 - 2 * phi * up * down + down**2, 0.0))
    difference = one - other
    return difference, max(difference - below, -1.0), min(difference + above, 1.0)


def bootstrap(statistic: Callable[[npt.NDArray[np.int64]], Floats], samples: int) -> tuple[float, float] | None:
    """The 95 % percentile interval of a statistic over samples that are drawn again with replacement (Efron, 1979).

    Args:
        statistic: Takes how often each sample was drawn, int64[resamples, samples], and returns the statistic
            of each resample, float64[resamples].
        samples: How many samples there are.

    Returns:
        Both ends, or None for a single sample, which says nothing of how samples vary. The seed is fixed, so
        the same samples always have the same interval.
    """
    if samples < 2:  # noqa: PLR2004  # a variance needs two
        return None
    rng = np.random.default_rng(_SEED)
    shares = np.full(samples, 1 / samples)
    at_once = max(_DRAWN // samples, 1)
    sizes = [min(at_once, RESAMPLES - start) for start in range(0, RESAMPLES, at_once)]
    values = np.concatenate([statistic(rng.multinomial(samples, shares, size=size)) for size in sizes])
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values[np.isfinite(values)], [tail, 1 - tail])
    return float(low), float(high)


def bootstrap_mean(values: Floats) -> tuple[float, float] | None:
    """The same for the mean of one value for each sample, float64[samples]."""
    count = max(len(values), 1)

    def mean(drawn: npt.NDArray[np.int64]) -> Floats:
        means: Floats = drawn @ values / count
        return means

    return bootstrap(mean, len(values))
