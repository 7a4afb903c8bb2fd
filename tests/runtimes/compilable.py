"""Models that `torch.compile` takes, takes in part, or takes for something else."""

from __future__ import annotations

import torch
from torch import nn


class Small(nn.Module):
    """What every other one is made of: four scores of five numbers."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(5, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + x.mean()


class Shared(Small):
    """Divides by a number that it keeps in Python, which differs from batch to batch."""

    size = 1.0

    def count(self) -> float:
        return self.size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.size = float(len(x))
        scores: torch.Tensor = self.linear(x)
        return scores / self.count()


class SaidToBeConstant(Shared):
    """The same, and Dynamo is told that the number never changes: it asks for it before `forward` has set it."""

    @torch.compiler.assume_constant_result
    def count(self) -> float:
        return self.size


class Breaks(Small):
    """Leaves the graph in its middle, where every call does."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.linear(x)
        torch._dynamo.graph_break()
        return torch.relu(hidden)


class OneByOne(Small):
    """Makes Dynamo compile it for each batch size: a hash is nothing that it can keep as a symbol."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.linear(x)
        return scores * (hash((len(x),)) % 7)


class Disabled(Small):
    @torch.compiler.disable
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.linear(x)
        return scores


class Recurrent(Small):
    """Dynamo takes no `nn.LSTM`, and not the function that calls one; it does take what is a function of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.recurrent = nn.LSTM(5, 5, batch_first=True)
        self.after = Small()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.recurrent(x[:, None])
        scores: torch.Tensor = self.after(hidden[:, 0])
        return scores


class RecurrentAlone(Small):
    def __init__(self) -> None:
        super().__init__()
        self.recurrent = nn.LSTM(5, 5, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.recurrent(x[:, None])
        out: torch.Tensor = hidden[:, 0]
        return out
