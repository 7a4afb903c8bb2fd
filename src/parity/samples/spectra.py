"""Random signals with the spectrum of natural ones: images whose power falls with the square of the frequency."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

IMAGE_SLOPE = 2.0
"""Power of natural images falls as 1/f^2 (Field 1987; Ruderman 1994: exponents of 1.8 to 2.3)."""

AUDIO_SLOPE = 1.0
"""Power of speech and music falls as about 1/f (Voss and Clarke 1975)."""

MIN_NUMBERS = 16
"""Fewer numbers than that along the axes have no spectrum to speak of, and are drawn as white noise."""

CHANNEL_CORRELATION = 0.9
"""Of the colours of one pixel. In photographs red, green and blue correlate by 0.85 to 0.98."""

FRAME_CORRELATION = 0.9
"""Of a pixel in one frame and the next; each frame keeps the spectrum of an image."""

MEAN_SPREAD = 0.4
"""Standard deviation of the means of images, where all pixels of all images have one of 1."""

CONTRAST_SPREAD = 0.25
"""Standard deviation of the logarithm of an image's contrast."""


def coloured(rng: np.random.Generator, shape: Sequence[int], axes: Sequence[int], slope: float) -> Floats:
    """Gaussian noise of power 1/f^`slope` along `axes`, with mean 0 and standard deviation 1 over these.

    White noise is multiplied by f^(-`slope`/2) in the frequency domain, f being the distance from the origin in
    cycles a sample; the constant part is left out.
    """
    white = rng.standard_normal(tuple(shape))
    lengths = [shape[axis] for axis in axes]
    if np.prod(lengths) < MIN_NUMBERS:
        return white
    squared = np.zeros([1] * len(shape))
    for axis in axes:
        frequencies = np.fft.rfftfreq(shape[axis]) if axis == axes[-1] else np.fft.fftfreq(shape[axis])
        squared = squared + np.expand_dims(
            frequencies**2, tuple(other for other in range(len(shape)) if other != axis % len(shape))
        )
    origin = squared == 0
    amplitude = np.where(origin, 0, np.where(origin, 1, squared) ** (-slope / 4))
    signal: Floats = np.fft.irfftn(np.fft.rfftn(white, axes=axes) * amplitude, s=lengths, axes=axes)
    scaled: Floats = signal / signal.std(axis=tuple(axes), keepdims=True)
    return scaled


def natural_image(rng: np.random.Generator, shape: Sequence[int], channels: int | None) -> Floats:
    """An image, or frames that follow each other: float64 of mean 0 and standard deviation 1 over many of them.

    Args:
        rng: Where the numbers come from.
        shape: Of the sample.
        channels: The axis of the colours, the two others of the last three being height and width; None where
            there is none, and height and width come last.
    """
    last = len(shape)
    spatial = [axis for axis in range(max(last - 3, 0), last) if axis != channels][-2:]
    image = coloured(rng, shape, spatial, IMAGE_SLOPE)
    if channels is not None and shape[channels] > 1:
        common = [1 if axis == channels else size for axis, size in enumerate(shape)]
        shared = coloured(rng, common, spatial, IMAGE_SLOPE)
        image = np.sqrt(CHANNEL_CORRELATION) * shared + np.sqrt(1 - CHANNEL_CORRELATION) * image
    for axis in range(last):
        if axis not in spatial and axis != channels:
            frames = np.moveaxis(image, axis, 0)
            for before, frame in itertools.pairwise(frames):
                frame[...] = FRAME_CORRELATION * before + np.sqrt(1 - FRAME_CORRELATION**2) * frame
    contrast = np.exp(rng.normal(0, CONTRAST_SPREAD) - CONTRAST_SPREAD**2)
    made: Floats = rng.normal(0, MEAN_SPREAD) + np.sqrt(1 - MEAN_SPREAD**2) * contrast * image
    return made


def natural_sound(rng: np.random.Generator, shape: Sequence[int]) -> Floats:
    """A signal along the last axis: float64 of mean 0, louder in one sample than in another."""
    contrast = np.exp(rng.normal(0, CONTRAST_SPREAD) - CONTRAST_SPREAD**2)
    made: Floats = contrast * coloured(rng, shape, [len(shape) - 1], AUDIO_SLOPE)
    return made
