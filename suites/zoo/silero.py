"""The voice detector silero-vad, which ships as a TorchScript archive, on a synthetic voice.

Its archive keeps what it heard last (128 numbers of a recurrent layer, twice, and 64 samples of audio) in
attributes between calls, and chooses between two networks by a sampling rate. It is registered twice:

- `silero_vad`: the network for 16 kHz that lies inside, with the state as an input and an output, as the
  ONNX files of the same package have it. This can be held against anything.
- `silero_vad_stateful`: the archive as it is called, with its state inside. What it answers depends on what
  it was asked before, so that nothing can be held against it, and parity has to say so.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import silero_vad
import torch
from numpy.typing import NDArray
from torch import nn

import parity
from suites.zoo import voice

ARCHIVE = Path(silero_vad.__file__).parent / "data" / "silero_vad.jit"

CHUNK, CONTEXT, STATE = 512, 64, (2, 128)
"""Samples of one call at 16 kHz, samples before it that the network sees too, shape of the state."""
SECONDS = 5.0
HELD_OUT_SPEAKERS, CALIBRATION_SPEAKERS = (300, 301, 302), (400,)

Sample = dict[str, NDArray[np.float32]]


class Frame(nn.Module):
    """One call with everything it depends on as an input.

    Takes ``audio``, float32 [N, 576], of which the first 64 samples were heard before, and ``state``,
    float32 [N, 2, 128]; returns the probability of speech, float32 [N, 1], and the next state.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, audio: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the probability [N, 1] and the state [N, 2, 128] for the next call."""
        speech, after = self.network(audio, torch.stack((state[:, 0], state[:, 1])))
        return speech, torch.stack((after[0], after[1]), dim=1)


class Stateful(nn.Module):
    """The archive as its package calls it: ``audio`` float32 [N, 512] to the probability of speech, float32 [N, 1]."""

    def __init__(self, archive: nn.Module) -> None:
        super().__init__()
        self.archive = archive

    def forward(self, audio: torch.Tensor) -> torch.Tensor:
        """Return the probability [N, 1]; the archive keeps its state for the next call."""
        speech: torch.Tensor = self.archive(audio, voice.RATE)
        return speech


def archive() -> nn.Module:
    """Read the package's archive in eval mode."""
    loaded: nn.Module = torch.jit.load(ARCHIVE)
    return loaded.eval()


def network() -> nn.Module:
    """The archive's network for 16 kHz as it is: audio [N, 576] and state [2, N, 128]."""
    found: nn.Module = dict(archive().named_children())["_model"]
    return found


def sixteen() -> Frame:
    """The same with the batch first in the state, as in everything else."""
    return Frame(network()).eval()


def chunks(speaker: int) -> NDArray[np.float32]:
    """An utterance cut into calls, float32 [n, 512]."""
    n = int(SECONDS * voice.RATE) // CHUNK
    return voice.utterance(speaker, SECONDS)[: n * CHUNK].reshape(n, CHUNK)


@functools.cache
def followed(speaker: int) -> tuple[Sample, ...]:
    """Each call of an utterance with the state that the network had come to by then."""
    called = sixteen()
    heard = np.zeros(CONTEXT, np.float32)
    state = torch.zeros(1, *STATE)
    found: list[Sample] = []
    with torch.inference_mode():
        for chunk in chunks(speaker):
            audio = np.concatenate([heard, chunk])
            found.append({"audio": audio, "state": state[0].numpy()})
            _, state = called(torch.from_numpy(audio)[None], state)
            heard = chunk[-CONTEXT:]
    return tuple(found)


def held_out() -> Iterator[Sample]:
    """The calls of three voices, 156 of each."""
    for speaker in HELD_OUT_SPEAKERS:
        yield from followed(speaker)


def calibration() -> Iterator[Sample]:
    """Every third call of another voice."""
    for speaker in CALIBRATION_SPEAKERS:
        yield from followed(speaker)[::3]


def held_out_alone() -> Iterator[Sample]:
    """The calls of the first voice as the makers' own ONNX files take them: `input` [1, 576], `state` [2, 1, 128]."""
    for sample in followed(HELD_OUT_SPEAKERS[0]):
        yield {"input": sample["audio"][None], "state": sample["state"][:, None]}


def held_out_chunks() -> dict[str, NDArray[np.float32]]:
    """The first voice's calls without a state, ``audio`` float32 [n, 512]."""
    return {"audio": chunks(HELD_OUT_SPEAKERS[0])}


@parity.register(
    "silero_vad",
    input=(f"audio: float32[N, {CHUNK + CONTEXT}]", "state: float32[N, 2, 128]"),
    samples=held_out,
    calibration=calibration,
    decision="none",  # what is decided on is whether a probability passes one half: no kind of decision says that
)
def frame() -> nn.Module:
    """The network for 16 kHz, with its state as an input and an output."""
    return sixteen()


@parity.register("silero_vad_stateful", input=f"audio: float32[N, {CHUNK}]", samples=held_out_chunks)
def stateful() -> nn.Module:
    """The archive as it is called, which keeps its state between calls."""
    return Stateful(archive())
