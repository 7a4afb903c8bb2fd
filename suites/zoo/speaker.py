"""The speaker encoder of Resemblyzer, an LSTM over a spectrogram of any length, on synthetic voices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from resemblyzer import VoiceEncoder
from resemblyzer.audio import wav_to_mel_spectrogram
from torch import nn

import parity
from suites.zoo import voice

SECONDS = (0.8, 1.2, 1.6)
N_HELD_OUT, N_CALIBRATION = 60, 9
HELD_OUT_SEED, CALIBRATION_SEED = 500, 700

Sample = dict[str, NDArray[np.float32]]


def utterances(n: int, seed: int) -> Iterator[Sample]:
    """Mel spectrograms as the package makes them, ``mels`` float32 [T, 40] with 100 frames a second."""
    for index in range(n):
        speech = voice.utterance(seed + index, SECONDS[index % len(SECONDS)])
        yield {"mels": np.ascontiguousarray(wav_to_mel_spectrogram(speech), np.float32)}


def held_out() -> Iterator[Sample]:
    """60 speakers, 20 of each length."""
    return utterances(N_HELD_OUT, HELD_OUT_SEED)


def calibration() -> Iterator[Sample]:
    """9 others."""
    return utterances(N_CALIBRATION, CALIBRATION_SEED)


@parity.register(
    "resemblyzer",
    input="mels: float32[N, T in 20..200, 40]",
    samples=held_out,
    calibration=calibration,
    decision="embedding",
)
def encoder() -> nn.Module:
    """Spectrogram to an embedding of unit length, float32 [N, 256]."""
    made: nn.Module = VoiceEncoder("cpu", verbose=False)
    return made.eval()
