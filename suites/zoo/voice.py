"""A synthetic voice: pulses of a glottis through the resonances of a vocal tract.

The source is Rosenberg's pulse, whose derivative is what leaves the lips; the filter is a cascade of second
order resonators, one a formant (Klatt, "Software for a cascade/parallel formant synthesizer", 1980). Vowels
glide from one to the next, fricatives are noise through one resonance, and there are pauses with a little
noise of a room.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

RATE = 16_000
"""Samples a second."""

Audio = NDArray[np.float64]

FORMANTS: Mapping[str, tuple[float, ...]] = {
    "a": (730, 1090, 2440, 3400),
    "e": (530, 1840, 2480, 3500),
    "i": (270, 2290, 3010, 3700),
    "o": (570, 840, 2410, 3300),
    "u": (300, 870, 2240, 3200),
}
"""Resonances of vowels in Hz: Peterson and Barney, 1952, and a fourth one."""

BANDWIDTHS = (60.0, 90.0, 120.0, 180.0)
FRICATIVES = (2500.0, 4500.0, 6000.0)
OPEN, CLOSING = 0.4, 0.16
"""Shares of a period in which the glottis opens, and in which it closes."""
PAUSES, HISSES = 0.35, 0.5
"""Shares of syllables that follow a pause, and that start with a fricative."""
ROOM = 1e-3
"""Standard deviation of the noise of the room, where speech peaks near 0.5."""


def pulses(pitch: Audio) -> Audio:
    """The derivative of the glottal flow for a pitch in Hz at each sample, float64 [n]."""
    phase = np.cumsum(pitch / RATE) % 1.0
    opening = 0.5 * (1 - np.cos(np.pi * phase / OPEN))
    closing = np.cos(0.5 * np.pi * (phase - OPEN) / CLOSING)
    flow = np.where(phase < OPEN, opening, np.where(phase < OPEN + CLOSING, closing, 0.0))
    return np.diff(flow, prepend=0.0)


def resonated(source: Audio, frequency: float, bandwidth: float) -> Audio:
    """Filter by a resonance with a gain of one at zero frequency; frequency and bandwidth in Hz."""
    radius = np.exp(-np.pi * bandwidth / RATE)
    poles = (1.0, -2 * radius * np.cos(2 * np.pi * frequency / RATE), radius**2)
    filtered: Audio = lfilter([sum(poles)], poles, source)
    return filtered


def scaled(sound: Audio, peak: float) -> Audio:
    """A sound whose largest sample is at `peak`."""
    made: Audio = sound * (peak / np.abs(sound).max())
    return made


def vowel(name: str, pitch: Audio) -> Audio:
    """A vowel at a pitch, float64 [n], with its largest sample at 0.5."""
    made = pulses(pitch)
    for frequency, bandwidth in zip(FORMANTS[name], BANDWIDTHS, strict=True):
        made = resonated(made, frequency, bandwidth)
    return scaled(made, 0.5)


def fricative(rng: np.random.Generator, n: int) -> Audio:
    """A hiss, float64 [n], with its largest sample at 0.15."""
    made = resonated(rng.standard_normal(n), float(rng.choice(FRICATIVES)), 800.0)
    return scaled(made, 0.15)


def eased(sound: Audio) -> Audio:
    """A sound that swells and fades over 20 ms, so that it starts and ends without a click."""
    n = min(int(0.02 * RATE), len(sound) // 2)
    ramp = 0.5 - 0.5 * np.cos(np.pi * np.arange(n) / n)
    sound[:n] *= ramp
    sound[-n:] *= ramp[::-1]
    return sound


def utterance(seed: int, seconds: float) -> NDArray[np.float32]:
    """Syllables and pauses of one speaker, float32 [seconds * RATE] within -1..1."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(85, 260)
    parts: list[Audio] = []
    total = int(seconds * RATE)
    while sum(map(len, parts)) < total:
        if rng.random() < PAUSES:
            parts.append(np.zeros(int(rng.uniform(0.15, 0.6) * RATE)))
        if rng.random() < HISSES:
            parts.append(eased(fricative(rng, int(rng.uniform(0.05, 0.12) * RATE))))
        n = int(rng.uniform(0.12, 0.4) * RATE)
        start, end = base * rng.uniform(0.8, 1.25, 2)
        glide = np.geomspace(start, end, n)
        vibrato = 1 + 0.01 * np.sin(2 * np.pi * 5 * np.arange(n) / RATE)
        parts.append(eased(vowel(str(rng.choice(list(FORMANTS))), glide * vibrato)))
    speech = np.concatenate(parts)[:total]
    return (speech + ROOM * rng.standard_normal(total)).clip(-1, 1).astype(np.float32)
