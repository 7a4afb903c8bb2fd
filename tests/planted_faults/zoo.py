"""The healthy model, and the same model with one fault each. Copied into the projects that are judged."""

from __future__ import annotations

import os
import signal
import time
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional

CLASSES = 4
FEATURES = 12

# Named here, since TorchScript stumbles over such comments within what it compiles.
is_scripting = torch.jit.is_scripting  # type: ignore[attr-defined]  # documented, but not exported by name
is_tracing = torch.jit.is_tracing  # type: ignore[attr-defined]  # the same


class Classifier(nn.Module):
    """Float32 [N, 12] to logits [N, 4]: linear, batch normalisation, ReLU, dropout, linear."""

    def __init__(self, eps: float = 1e-3) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.stem = nn.Linear(FEATURES, 16)
        self.norm = nn.BatchNorm1d(16, eps=eps)
        self.norm.running_mean.uniform_(-0.3, 0.3)  # type: ignore[union-attr]  # it is tracked
        self.norm.running_var.uniform_(0.02, 0.2)  # type: ignore[union-attr]
        self.dropout = nn.Dropout(0.5)
        self.head = nn.Linear(16, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        logits: torch.Tensor = self.head(self.dropout(torch.relu(self.norm(self.stem(x)))))
        return logits


class Branches(Classifier):
    """Decides on the mean of its input, which tracing bakes in."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits, the other way round where the input's mean is above 0.3."""
        logits: torch.Tensor = self.head(torch.relu(self.norm(self.stem(x))))
        if bool(x.mean() > 0.3):
            logits = -logits
        return logits


class FoldsBatch(Classifier):
    """Reads the batch size as a Python number, which tracing bakes in."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        hidden = torch.relu(self.norm(self.stem(x)))
        rows = int(x.shape[0])
        logits: torch.Tensor = self.head(hidden.reshape(rows, -1))
        return logits


class FoldsLength(nn.Module):
    """Float32 [N, T] to [N, 4]: reads the length as a Python number, which tracing bakes in."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.weights = nn.Parameter(torch.linspace(0.2, 1.0, 16))
        self.head = nn.Linear(1, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return logits of a weighted sum; a sequence of one would be repeated by what was traced."""
        length = int(x.shape[1])
        weighted = x * self.weights[:length]
        logits: torch.Tensor = self.head(weighted.sum(dim=1, keepdim=True))
        return logits


class NeedsTwo(FoldsLength):
    """Refuses a sequence of one, which its signature allows."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        if x.shape[1] < 2:  # as it says
            raise ValueError("a sequence has two values at least")
        logits: torch.Tensor = self.head((x * self.weights[: x.shape[1]]).sum(dim=1, keepdim=True))
        return logits


class Killed(Classifier):
    """Its process dies while it is traced, as in an exporter that runs out of memory."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        if not is_scripting():
            die_while_traced()
        logits: torch.Tensor = self.head(torch.relu(self.norm(self.stem(x))))
        return logits


class Hangs(Classifier):
    """Never comes back while it is traced."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        if not is_scripting():
            hang_while_traced()
        logits: torch.Tensor = self.head(torch.relu(self.norm(self.stem(x))))
        return logits


class Random(Classifier):
    """Drops features in eval mode too."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return logits that differ from call to call."""
        logits: torch.Tensor = self.head(functional.dropout(torch.relu(self.norm(self.stem(x))), 0.5, training=True))
        return logits


class Counts(Classifier):
    """Counts its calls and answers otherwise from the third on, as a cache does that is never reset."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits, a little more of them in every call."""
        self.calls += 1
        logits: torch.Tensor = self.head(torch.relu(self.norm(self.stem(x))))
        return logits * (1.0 + 0.1 * self.calls)


class Centred(Classifier):
    """Subtracts the mean of its batch, as a normalisation does whose statistics were never fixed."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return logits that depend on the other samples."""
        logits: torch.Tensor = self.head(torch.relu(self.norm(self.stem(x - x.mean(dim=0)))))
        return logits


class Checks(nn.Module):
    """Float32 [N, 12] to [N, 4]: looks at the shape of its input before it scales it, which tracing leaves out."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.scale = nn.Parameter(torch.linspace(0.5, 1.5, FEATURES))
        self.head = nn.Linear(FEATURES, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits; raises where it has another number of features."""
        if x.shape[1] != 12:  # TorchScript compiles no global numbers
            raise ValueError("12 features are needed")
        logits: torch.Tensor = self.head(x * self.scale)
        return logits


class Constant(Classifier):
    """Answers the same whatever it is asked."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the same logits for every sample."""
        logits: torch.Tensor = self.head(torch.relu(self.norm(self.stem(x * 0.0))))
        return logits


class Filter(nn.Module):
    """Float32 [N, 12] to [N, 12]: nothing in it that dynamic quantization covers."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv1d(1, 1, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the smoothed features."""
        smooth: torch.Tensor = self.conv(x[:, None]).squeeze(1)
        return smooth


class Pair(nn.Module):
    """Float32 [N, 12] to two float outputs of the same shape and the class as int64."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.left = nn.Linear(FEATURES, CLASSES)
        self.right = nn.Linear(FEATURES, CLASSES)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return both heads, and the most likely class of the first."""
        left, right = self.left(x), self.right(x)
        return left, right, left.argmax(1)


class PairSwapped(Pair):
    """Both heads in the other order."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what the healthy model returns, the first two swapped."""
        left, right, chosen = super().forward(x)
        return right, left, chosen


class Heads(NamedTuple):
    """Two heads with names."""

    left: torch.Tensor
    right: torch.Tensor


class Named(Pair):
    """The two heads as a named tuple, which tracing makes a plain one of."""

    def forward(self, x: torch.Tensor) -> Heads:  # type: ignore[override]  # another structure
        """Return both heads."""
        return Heads(self.left(x), self.right(x))


class Halved(Pair):
    """The second head in bfloat16."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]  # the same
        """Return both heads, the second rounded."""
        return self.left(x), self.right(x).to(torch.bfloat16)


class HalvedWidened(Halved):
    """The same numbers in float32, as a runtime returns them that has no bfloat16."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]  # the same
        """Return what the healthy model returns, in another dtype."""
        left, right = super().forward(x)
        return left, right.float()


class Selects(Pair):
    """Also the rows whose first score is positive: in some calls there is none."""

    threshold = 0.0

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]  # the same
        """Return a head, and some of its rows."""
        left = self.left(x)
        return left, left[left[:, 0] > self.threshold]


class SelectsFewer(Selects):
    """Another threshold."""

    threshold = 0.2


class PairNarrowed(Pair):
    """The class as int32, as a converter makes it that has no int64."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what the healthy model returns, the last one narrower."""
        left, right, chosen = super().forward(x)
        return left, right, chosen.int()


class PairNotANumber(Pair):
    """NaN where the first head is negative, as the square root of what was a variance makes it."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what the healthy model returns, with NaN in the first output."""
        left, right, chosen = super().forward(x)
        return left.sqrt() ** 2, right, chosen


class PairMissing(Pair):
    """The class is left out, as an optimiser does with what it thinks nobody reads."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]  # the fault
        """Return the two heads alone."""
        left, right, _ = super().forward(x)
        return left, right


class PairOffByOne(Pair):
    """Another class now and then."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what the healthy model returns, one class too high where the first feature is large."""
        left, right, chosen = super().forward(x)
        return left, right, chosen + (x[:, 0] > 1).long()


class Cancels(nn.Module):
    """Adds what it takes away again: what is left of the float32 sum is noise."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Differences of each feature to the last, float32[N, 11], most of their digits gone."""
        return (x[:, :-1] + 1e5) - (x[:, -1:] + 1e5)


class CancelsLess(Cancels):
    """The same by other arithmetic, which a converter might choose: it keeps the digits."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same differences."""
        return x[:, :-1] - x[:, -1:]


class CancelsWrongly(Cancels):
    """Other differences, by far more than the noise."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The differences, a quarter too large."""
        return super().forward(x) * 1.25


@torch.jit.unused
def die_while_traced() -> None:
    """Kill this process if it is tracing."""
    if is_tracing():
        os.kill(os.getpid(), signal.SIGKILL)


@torch.jit.unused
def hang_while_traced() -> None:
    """Sleep for ever, with a process of its own beside it, if this one is tracing."""
    if is_tracing():
        if os.fork() == 0:
            time.sleep(3600)
        time.sleep(3600)


class TwoInputs(Classifier):
    """Two float32 [N, 12] that nothing but their names tells apart, and an optional one, to logits [N, 4]."""

    def forward(  # type: ignore[override]  # what it takes is what it is for
        self, left: torch.Tensor, right: torch.Tensor, scale: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the logits of the difference."""
        difference = left - right if scale is None else (left - right) * scale
        logits: torch.Tensor = self.head(torch.relu(self.norm(self.stem(difference))))
        return logits
