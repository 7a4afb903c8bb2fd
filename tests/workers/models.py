"""Small models with one property each, and a bench that loads them in this process."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from parity.arrays import Array
from parity.models.signature import parse_signature
from parity.models.spec import ModelSpec

RNG = np.random.default_rng(11)
HELD_OUT = RNG.standard_normal((20, 6)).astype(np.float32)
OTHERS = RNG.standard_normal((9, 6)).astype(np.float32)


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.one, self.two = nn.Linear(6, 32), nn.Linear(32, 300)

    def forward(self, x: torch.Tensor) -> Any:
        return self.two(torch.relu(self.one(x)))


class Scalar(Plain):
    def forward(self, x: torch.Tensor) -> Any:
        return super().forward(x).mean(dim=1)


class HardCoded(Plain):
    """Names float32 in the middle, twice."""

    def forward(self, x: torch.Tensor) -> Any:
        wide = self.one(x.float()) + torch.zeros(32, dtype=torch.float32)
        return self.two(torch.relu(wide)).to(torch.float32)


class Refuses(Plain):
    """Takes float32 and nothing else."""

    def forward(self, x: torch.Tensor) -> Any:
        if x.dtype != torch.float32:
            raise TypeError("float32 is what this was written for")
        return super().forward(x)


class RefusesOnce(Plain):
    """Runs in float64 on some of its samples."""

    def forward(self, x: torch.Tensor) -> Any:
        if x.dtype == torch.float64 and x[0, 0].item() == float(HELD_OUT[8, 0]):
            raise RuntimeError("not these")
        return super().forward(x)


class RefusesOnceByValue(RefusesOnce):
    """The same with an exception that no operator of torch raises."""

    def forward(self, x: torch.Tensor) -> Any:
        try:
            return super().forward(x)
        except RuntimeError as error:
            raise ValueError("not these") from error


class Narrow(Plain):
    """Runs in float64 and returns float32 all the same."""

    def forward(self, x: torch.Tensor) -> Any:
        return torch.from_numpy(super().forward(x).numpy().astype(np.float32))


class NarrowComplex(Plain):
    def forward(self, x: torch.Tensor) -> Any:
        return torch.from_numpy(np.fft.fft(super().forward(x).numpy()).astype(np.complex64))


class OtherDigits(Plain):
    """Computes something else where float32 is overridden: the step between neighbours depends on the dtype."""

    def forward(self, x: torch.Tensor) -> Any:
        step = torch.finfo(x.to(torch.float32).dtype).eps
        return super().forward(x).float() * (1 + 1e6 * step)


class Complex(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Parameter(torch.randn(6, 300, dtype=torch.complex64))
        self.shift = torch.randn(300)  # neither a parameter nor a buffer

    def forward(self, x: torch.Tensor) -> Any:
        return x.to(torch.complex64) @ self.weight + self.shift


class Random(Plain):
    def forward(self, x: torch.Tensor) -> Any:
        return super().forward(x) + torch.rand(1)


class Counting(Plain):
    calls = 0.0

    def forward(self, x: torch.Tensor) -> Any:
        self.calls += 1
        return super().forward(x) * self.calls


class WakesUp(Plain):
    """Zeros in its first call, and something else from then on."""

    calls = 0

    def forward(self, x: torch.Tensor) -> Any:
        self.calls += 1
        return super().forward(x) * (self.calls > 2)


class RandomElsewhere(Plain):
    """Draws from NumPy, which torch's seed does not reach."""

    def forward(self, x: torch.Tensor) -> Any:
        return super().forward(x) + float(np.random.rand())  # noqa: NPY002  # the old way, as models have it


class KeepsFirstShape(Plain):
    """Remembers something of its first call: repeated calls agree, and a fresh module answers otherwise."""

    first: float | None = None

    def forward(self, x: torch.Tensor) -> Any:
        if self.first is None:
            self.first = float(x.abs().max())
        return super().forward(x) / self.first


class ReadsStorage(Plain):
    """Takes its input's memory for its values."""

    def forward(self, x: torch.Tensor) -> Any:
        return super().forward(x.as_strided(x.shape, (x.shape[1], 1)))


class Views(Plain):
    """Refuses what is not contiguous."""

    def forward(self, x: torch.Tensor) -> Any:
        return super().forward(x.view(-1).view(x.shape))


class WritesInput(Plain):
    def forward(self, x: torch.Tensor) -> Any:
        x.mul_(0.5)
        return super().forward(x)


class Several(Plain):
    def forward(self, x: torch.Tensor) -> Any:
        y = super().forward(x)
        return {"scores": y, "best": y.argmax(1), "total": y.sum()}


class NearTies(Plain):
    """One decision that no noise changes, and one between two numbers that differ by rounding alone."""

    def forward(self, x: torch.Tensor) -> Any:
        y = super().forward(x)
        return {"clear": y > y.mean() + 100, "tied": (y * 3.0 / 7.0) > (y / 7.0 * 3.0)}


class Tokens(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.out = nn.Embedding(10, 32), nn.Linear(32, 1)

    def forward(self, tokens: torch.Tensor) -> Any:
        return self.out(self.embed(tokens).mean(dim=1))[:, 0]


class NoSuchRate(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("no rate of 8000")


class Scripted(nn.Module):
    """Holds TorchScript, whose errors begin with the source."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.jit.script(NoSuchRate())

    def forward(self, x: torch.Tensor) -> Any:
        return self.inner(x)


class Fails(Plain):
    def forward(self, x: torch.Tensor) -> Any:
        return super().forward(x[:, :3])


class Nothing(Plain):
    def forward(self, x: torch.Tensor) -> Any:
        return None


class Texts(Plain):
    def forward(self, x: torch.Tensor) -> Any:
        return ["cat"]


class FewAtATime(Plain):
    """Raises for more than eight samples."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] > 8:
            raise RuntimeError("out of memory")
        scores: torch.Tensor = self.two(torch.relu(self.one(x)))
        return scores


class LongToWarmUp(Plain):
    """Takes a third of a second for its first call."""

    called = False

    def forward(self, x: torch.Tensor) -> Any:
        if not self.called:
            self.called = True
            time.sleep(0.33)
        return super().forward(x)


class Killed(Plain):
    """Ends its process at the first call."""

    def forward(self, x: torch.Tensor) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class Hanging(Plain):
    """Does not come back from more than one sample."""

    def forward(self, x: torch.Tensor) -> Any:
        if x.shape[0] > 1:
            time.sleep(1000)
        return super().forward(x)


class Spinning(Plain):
    """Keeps a thread of its own busy, whether anybody calls it or not."""

    def __init__(self) -> None:
        super().__init__()
        threading.Thread(target=self._spin, daemon=True).start()

    def _spin(self) -> None:
        while True:
            pass


def held_out() -> dict[str, Array]:
    return {"x": HELD_OUT}


def few() -> dict[str, Array]:
    return {"x": HELD_OUT[:3]}


def tokens() -> dict[str, Array]:
    """Held-out `tokens`, int64[3, 4]."""
    return {"tokens": np.random.default_rng(3).integers(0, 10, (3, 4))}


def others() -> dict[str, Array]:
    return {"x": OTHERS}


def overlapping() -> dict[str, Array]:
    return {"x": np.concatenate([OTHERS, HELD_OUT[4:5]])}


def wrong_kind() -> dict[str, Array]:
    return {"x": OTHERS.astype(np.float64)}


def labels() -> list[int]:
    return list(range(20))


def spec(
    model: type[nn.Module], samples: str | None = "held_out", inputs: str = "x: float32[N, 6]", **changes: Any
) -> ModelSpec:
    here = Path(__file__).resolve()
    made = ModelSpec(
        name=model.__name__.lower(),
        factory=f"{here}:{model.__name__}",
        signature=parse_signature(inputs),
        root=here.parents[2],
        samples=f"{here}:{samples}" if samples else None,
    )
    return made.with_changes(**{key: f"{here}:{value}" for key, value in changes.items()})


class Probability(nn.Module):
    """Takes a probability, which a jittered copy of 1 exceeds, and returns one number."""

    def forward(self, x: torch.Tensor) -> Any:
        return torch.nn.functional.binary_cross_entropy(x, torch.ones_like(x), reduction="none").mean(dim=1)


class CheckedProbability(Probability):
    """The same with a check of its own, and a class beside the number."""

    def forward(self, x: torch.Tensor) -> Any:
        if bool((x > 1).any()):
            raise ValueError("a probability is at most 1")
        loss = super().forward(x)
        return {"output": loss, "surprising": loss > 1}


class NarrowProbability(CheckedProbability):
    """The same where float64 cannot run."""

    def forward(self, x: torch.Tensor) -> Any:
        if x.dtype != torch.float32:
            raise TypeError("float32 is what this was written for")
        return super().forward(x)


def certain() -> dict[str, Array]:
    """Held-out probabilities, one of them exactly 1: `x` float32[8, 6]."""
    probabilities = np.clip(np.abs(HELD_OUT[:8]) / 3 + 0.05, 0, 1).astype(np.float32)
    probabilities[0, 0] = 1.0
    return {"x": probabilities}


class Sequence(nn.Module):
    """Sums the values of a sequence; refuses one of a single value, though it need not."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.scores = nn.Linear(1, 5)

    def forward(self, x: torch.Tensor) -> Any:
        if x.shape[1] < 2:
            raise ValueError("too short")
        return self.scores(x.sum(dim=1, keepdim=True))


def sequences() -> dict[str, Array]:
    return {"x": HELD_OUT}


class SixAtLeast(Plain):
    """Raises for fewer than six samples, and for anything but float32."""

    def forward(self, x: torch.Tensor) -> Any:
        if x.shape[0] < 6 or x.dtype != torch.float32:
            raise TypeError("six samples at least, in float32")
        return super().forward(x)
