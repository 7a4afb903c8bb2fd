"""What a newcomer has: a module in a file of its own, and every file that its weights may lie in."""

import torch
from torch import nn


class Net(nn.Module):
    """A small network with a keyword-only input."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = nn.Conv2d(3, 8, 3, padding=1), nn.Linear(8, 5)

    def forward(self, image: torch.Tensor, *, scale: torch.Tensor | None = None) -> torch.Tensor:
        hidden = torch.relu(self.conv(image)).mean((2, 3))
        scores: torch.Tensor = self.head(hidden if scale is None else hidden * scale)
        return scores


class Signed(nn.Module):
    """Takes another way for some samples, which a trace does not see."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if bool(x.mean() > 0):
            return x.cumsum(1)
        return x.flip(1)
