"""Modules with one hazard each, and the same module without it. Float32 [N, 6] to [N, 6]."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional


class Base(nn.Module):
    """The healthy one."""

    memory: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.norm, self.drop = nn.Linear(6, 6), nn.BatchNorm1d(6), nn.Dropout()
        self.register_buffer("memory", torch.zeros(6))
        self.calls, self.history = 0, []  # type: ignore[var-annotated]
        self.kept: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> Any:
        return self.drop(self.norm(self.layer(x)))


class Branch(Base):
    def forward(self, x: torch.Tensor) -> Any:
        if x.mean() > 0:  # here
            x = -x
        return self.layer(x)


class Where(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(torch.where(x.mean() > 0, -x, x))


class Equal(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(-x if torch.equal(x, x.abs()) else x)  # here


class Contains(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(-x if 0.5 in x else x)  # here


class Item(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x) / x.abs().max().item()  # here


class ToList(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x) * max(x.mean(0).tolist())  # here


class Index(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x) * [1.0, 2.0][(x[0, 0] > 0).long()]  # here


class NumPy(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x) + torch.from_numpy(np.tanh(x.numpy()))  # here


class ConstantItem(Base):
    """What no input reaches stays what it is, in a trace as well."""

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x) * (1.0 + self.memory.sum().item())


class Asserts(Base):
    def forward(self, x: torch.Tensor) -> Any:
        assert torch.isfinite(x).all(), "not finite"  # here
        return self.layer(x)


class IntSize(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x).reshape(int(x.shape[0]), -1)  # here


class Length(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x).reshape(len(x), -1)  # here


class Root(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x) / math.sqrt(x.size(0))  # here


class Ceiling(Base):
    def forward(self, x: torch.Tensor) -> Any:
        half = math.ceil((x.shape[0] + 1) / 2)  # here
        return self.layer(x)[:half]


class Repeats(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x) * torch.tensor([2.0] * x.shape[0])[:, None]  # here


class LooksUp(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x) * {2: 1.0}.get(x.shape[0], 3.0)  # here


class Lists(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x) * torch.tensor([x.shape[0], 2]).sum()  # here


class Idioms(Base):
    """Sizes that stay what they are all the way to an operator, fixed dimensions, checks, and emptiness."""

    def forward(self, x: torch.Tensor) -> Any:
        batch, features = x.shape
        if batch == 0 or batch < 1:
            return x
        batch = max(batch, 1)
        assert batch < 1000
        if features != 6:
            raise ValueError(features)
        half = math.sqrt(int(features)) + float(len(x[0]))
        y = self.layer(x).view(x.size(0), -1).flatten(1).reshape(batch * 2, features // 2)
        grid = torch.arange(batch)[: batch // 2 + 1].sum() + torch.zeros(batch, 3).sum()
        grid = grid * torch.tensor(batch) / batch**0.5 + torch.full((), batch * 0.5)
        for column in y.unbind(1):
            grid = grid + column.sum() * 0
        a, b = x.chunk(2, 1)
        return y.view(x.shape) + half + grid + torch.cat([a, b], dim=len(x.shape) - 1) + x.numel()


class SizeBranch(Base):
    def forward(self, x: torch.Tensor) -> Any:
        if x.shape[0] > 2:  # here
            x = -x
        return self.layer(x)


class Smallest(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x)[: min(2, x.shape[0])]  # here


class Rows(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return torch.stack([self.layer(row) for row in x])  # here


class Range(Base):
    def forward(self, x: torch.Tensor) -> Any:
        total = torch.zeros(6)
        for place in range(x.size(0)):  # here
            total = total + self.layer(x[place])
        return total


class FixedRange(Base):
    def forward(self, x: torch.Tensor) -> Any:
        columns = [x[:, place] for place in range(x.size(1))]
        assert isinstance(range(3), range)
        return self.layer(torch.stack(columns, 1))


class Draws(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x) + torch.randn_like(x)  # here


class DrawsNumPy(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x) + float(np.random.rand())  # noqa: NPY002  # here


class DrawsPython(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x) + random.random()  # noqa: S311  # here


class Attends(Base):
    """Attention without dropout may draw numbers by its schema, and draws none."""

    def forward(self, x: torch.Tensor) -> Any:
        q = self.layer(x).view(-1, 1, 2, 3)
        return functional.scaled_dot_product_attention(q, q, q).reshape(x.shape)


class Dropout(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return functional.dropout(self.layer(x), 0.5)  # here


class Stubborn(Base):
    def train(self, mode: bool = True) -> Any:  # noqa: FBT001, FBT002  # here
        return super().train(True)  # noqa: FBT003  # whatever is asked for


class Mean(Base):
    def forward(self, x: torch.Tensor) -> Any:
        self.memory.mul_(0.9).add_(x.mean(0), alpha=0.1)  # here
        return self.layer(x) + self.memory


class WritesView(Base):
    def forward(self, x: torch.Tensor) -> Any:
        x[:, 0] = 5.0  # here
        return self.layer(x)


class WritesOwn(Base):
    def forward(self, x: torch.Tensor) -> Any:
        y = self.layer(x).clone()
        y[:, 0] = 5.0
        return functional.relu(y, inplace=True)


class Counts(Base):
    def forward(self, x: torch.Tensor) -> Any:
        self.calls += 1  # here
        return self.layer(x) * self.calls


class Keeps(Base):
    def forward(self, x: torch.Tensor) -> Any:
        self.kept = self.layer(x)  # here
        return self.kept


class Caches(Base):
    def forward(self, x: torch.Tensor) -> Any:
        if self.kept is None:
            self.kept = torch.arange(6.0)  # here
        return self.layer(x) + self.kept


class Appends(Base):
    def forward(self, x: torch.Tensor) -> Any:
        self.history.append(x.mean())  # here
        return self.layer(x)


class Replaces(Base):
    def forward(self, x: torch.Tensor) -> Any:
        self.memory = self.memory + 1  # here
        return self.layer(x)


class SetsTheSame(Base):
    def forward(self, x: torch.Tensor) -> Any:
        self.calls = 0
        return self.layer(x)


class Hooked(Base):
    def __init__(self) -> None:
        super().__init__()
        self.layer.register_forward_hook(double)
        self.norm.register_forward_pre_hook(first_of)


def double(module: nn.Module, inputs: Any, output: torch.Tensor) -> torch.Tensor:
    return output * 2


def first_of(module: nn.Module, inputs: Any) -> Any:
    return inputs


class Parametrized(Base):
    def __init__(self) -> None:
        super().__init__()
        nn.utils.parametrizations.weight_norm(self.layer)


class Narrow(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x).half().float()  # here


class Autocast(Base):
    def forward(self, x: torch.Tensor) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.layer(x)  # here
            y = self.layer(y.float())
        return y.float()


class Widens(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x).double().sum(1).float()


class Selects(Base):
    def forward(self, x: torch.Tensor) -> Any:
        y = self.layer(x)
        return y[y > 0]  # here


class Gathers(Base):
    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x)[:, torch.tensor([0, 2])]


class Nested(nn.Module):
    """A hazard two modules down."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.Sequential(Base(), nn.Sequential(Base(), Branch()))

    def forward(self, x: torch.Tensor) -> Any:
        return self.blocks(x)


class Steps(nn.Module):
    """Float32 [N, T, 6]: a recurrence written out over its steps."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(6, 6)

    def forward(self, x: torch.Tensor) -> Any:
        state = x.new_zeros(x.shape[0], 6)
        for step in range(x.shape[1]):  # here
            state = self.cell(x[:, step], state)
        return state


class Pairs(nn.Module):
    """Float32 [N, T, 6]: takes an even number of steps alone."""

    def forward(self, x: torch.Tensor) -> Any:
        first, second = x.chunk(2, 1)
        return (first - second) / math.sqrt(x.shape[1])  # here


class Scripted(nn.Module):
    """A module of TorchScript's beside one of Python's."""

    def __init__(self) -> None:
        super().__init__()
        self.compiled = torch.jit.script(nn.Linear(6, 6))
        self.plain = Branch()

    def forward(self, x: torch.Tensor) -> Any:
        return self.plain(self.compiled(x))


class Picky(Base):
    """Takes batches of four alone."""

    def forward(self, x: torch.Tensor) -> Any:
        y = self.layer(x).view(4, 6)
        return -y if x.sum() > 0 else y  # here
