"""Watches what is made of sizes that differ between two calls, which is how a dimension is known as symbolic."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from parity.models.hazards.log import HazardLog
from parity.models.hazards.numbers import Size, plainly, watched_range
from parity.models.hazards.places import caller, inside_torch

Seen = dict[tuple[CodeType, int, str], list[tuple[int, ...]]]
"""The sizes that each place in the code met, in order. A place is a code object and an instruction."""

_SHAPE = "shape"
_GET_SHAPE: Any = vars(torch._C.TensorBase)["shape"].__get__  # noqa: SLF001  # where it is defined
_FROM_NUMBERS = frozenset({torch.tensor, torch.as_tensor})
_NUMBERS = frozenset({"size", "numel", "nelement"})
_SPLITS = frozenset({"unbind", "split", "chunk", "tensor_split", "split_with_sizes"})


class SizeWatch(TorchFunctionMode):
    """Writes down every size that `forward` asks for; those that differ from an earlier call's are marked.

    Args:
        log: Where hazards go.
        before: What a watch over a call of other sizes has `seen`; without it nothing is marked.
    """

    def __init__(self, log: HazardLog, before: Mapping[tuple[CodeType, int, str], list[tuple[int, ...]]]) -> None:
        super().__init__()
        self._log = log
        self._before = before
        self.seen: Seen = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the function; mark what it tells of a symbolic dimension."""
        kwargs = kwargs or {}
        if func in _FROM_NUMBERS and isinstance(args[0], (list, tuple)) and any(isinstance(n, Size) for n in args[0]):
            self._log.see_size("size", "makes a constant tensor of the size of a symbolic dimension", sys._getframe(1))  # noqa: SLF001  # the documented way to the caller's frame
        result = func(*map(plainly, args), **{key: plainly(value) for key, value in kwargs.items()})
        name = _SHAPE if func == _GET_SHAPE else getattr(func, "__name__", "")
        if name not in _NUMBERS and name not in _SPLITS and name not in {_SHAPE, "__len__"}:
            return result
        frame = caller(sys._getframe(1))  # noqa: SLF001  # as above
        if inside_torch(frame):
            return result
        sizes = _sizes(result)
        varying = self._varying(sizes, (frame.f_code, frame.f_lasti, name))
        if not any(varying):
            return result
        if name == "__len__":
            self._log.see_size("size", "turns the size of a symbolic dimension into a Python number", frame)
        elif name in _SPLITS:
            self._log.see_size("loop", "takes a symbolic dimension apart in Python", frame)
        elif isinstance(result, tuple):
            marked = (self._marked(size) if varies else size for size, varies in zip(sizes, varying, strict=True))
            return torch.Size(marked)
        else:
            return self._marked(result)
        return result

    def _marked(self, size: int) -> Size:
        return Size(size, self._log.see_size)

    def _varying(self, sizes: tuple[int, ...], key: tuple[CodeType, int, str]) -> tuple[bool, ...]:
        met = self.seen.setdefault(key, [])
        met.append(sizes)
        before = self._before.get(key, [])
        known = before[len(met) - 1] if len(met) <= len(before) else sizes
        # Another rank, or another path through the code: nothing is known, so nothing is said.
        return tuple(map(int.__ne__, known, sizes)) if len(known) == len(sizes) else (False,) * len(sizes)


def _sizes(result: Any) -> tuple[int, ...]:
    if isinstance(result, torch.Size):
        return tuple(result)
    return (result,) if isinstance(result, int) else (len(result),)


@contextmanager
def watched_ranges(module: nn.Module, root: Path) -> Iterator[None]:
    """Have `range` tell of sizes, in the files that hold the model's code, for the time of the block.

    It is the one builtin that takes an `int` apart without asking it.
    """
    # The same file may be known by two names.
    scopes = [*{id(each): vars(each) for each in _modules(module, root) if "range" not in vars(each)}.values()]
    for scope in scopes:
        scope["range"] = _Range
    try:
        yield
    finally:
        for scope in scopes:
            del scope["range"]


class _RangeLike(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, builtins.range)


class _Range(metaclass=_RangeLike):
    """Stands in for `range`: makes real ones, and recognises them."""

    def __new__(cls, *arguments: Any) -> Any:
        return watched_range(*arguments)


def _modules(module: nn.Module, root: Path) -> list[ModuleType]:
    kinds = {kind for each in module.modules() for kind in type(each).__mro__}
    names = {kind.__module__ for kind in kinds if not kind.__module__.startswith(("torch.", "builtins"))}
    return [
        each
        for name, each in list(sys.modules.items())
        if isinstance(each, ModuleType) and (name in names or _below(each, root)) and not name.startswith("parity.")
    ]


def _below(module: ModuleType, root: Path) -> bool:
    file = getattr(module, "__file__", None) or ""
    return file.startswith(f"{root}/") and "-packages/" not in file
