"""A network that has a place for every kind of fault."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from benchmarks.faults.networks import Stepped, SteppedConv

SIZE = 12


class Tiny(nn.Module):
    """Float32 images [N, 3, 12, 12] to [N, 5]."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.step = Stepped(0, 255, 2.0**-5, 128)
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.first = nn.BatchNorm2d(8)
        self.second = nn.BatchNorm2d(8)
        self.mixed = SteppedConv(nn.Conv2d(8, 8, 3, padding=1))
        self.deep = nn.Conv2d(8, 8, 3, padding=1)
        self.norms = nn.ModuleList([nn.LayerNorm(8), nn.LayerNorm(8)])
        self.query = nn.Linear(8, 8)
        self.head = nn.Linear(8, 5)
        for norm in (self.first, self.second):
            norm.running_mean.uniform_(0.5, 1.0)  # type: ignore[union-attr]  # it is tracked
            norm.running_var.uniform_(0.02, 0.1)  # type: ignore[union-attr]
            nn.init.uniform_(norm.bias, 0.5, 1.0)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return scores; most activations come twice, so that a fault can be at one of them or at all."""
        x = self.first(self.stem(self.step(image)))
        x = torch.relu(4 * x) + torch.relu(-4 * x) + functional.relu6(4 * x) + functional.relu6(-4 * x)
        x = functional.avg_pool2d(functional.max_pool2d(x, 3, 2, 1), 3, 1, 1)
        x = functional.avg_pool2d(functional.max_pool2d(x, 3, 1, 1), 3, 1, 1)
        x = self.second(self.mixed(functional.hardswish(x) + functional.hardswish(0.3 * x)))
        x = functional.silu(x) + functional.silu(0.6 * x)
        x = self.deep(x * functional.hardsigmoid(0.2 * x) * functional.hardsigmoid(0.1 * x))
        for mode in ("bilinear", "bicubic", "nearest", "bilinear", "nearest"):
            aligned = None if mode == "nearest" else False
            x = functional.interpolate(x, scale_factor=1.5, mode=mode, align_corners=aligned)
        x = functional.max_pool2d(x, 2, 3, ceil_mode=True).flatten(2).transpose(1, 2)
        for norm in self.norms:
            x = functional.gelu(norm(x * 0.04))
            x = x + torch.softmax(self.query(x) @ x.transpose(1, 2) * 0.3535, -1) @ x
        scores: torch.Tensor = self.head(x[:, 0])
        return scores
