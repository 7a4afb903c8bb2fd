"""Sizes that remember through arithmetic that they belong to a symbolic dimension.

They are numbers like any other, so that a model computes with them what it always does. Where Python makes
something else of them (`int`, `math.sqrt`, a comparison, `range`) they tell. What C code does with an `int`
without asking it (`x[:n]`, `view`, `arange`) stays unseen, and exporters follow it.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

Tell = Callable[[str, str, FrameType], None]
"""Called with the kind of hazard, what happened, and the frame that did it."""

_READS = "turns the size of a symbolic dimension into a Python number"
_BRANCHES = "decides on the size of a symbolic dimension"
_UNROLLS = "runs a Python loop over a symbolic dimension"
_LOOKS_UP = "looks something up in Python by the size of a symbolic dimension"
_REPEATS = "repeats a Python list by the size of a symbolic dimension"


class Size(int):
    """A size of a symbolic dimension, or a whole number computed from one."""

    tell: Tell
    derived: bool

    def __new__(cls, value: int, tell: Tell, *, derived: bool = False) -> Size:  # noqa: PYI034  # Self is newer than Python 3.10
        """Wrap a value."""
        made = super().__new__(cls, value)
        made.tell, made.derived = tell, derived
        return made

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        """Copies and pickles are plain numbers."""
        return int, (_plain(self),)


class Fraction(float):
    """A number with a fraction that was computed from a size."""

    tell: Tell
    derived = True

    def __new__(cls, value: float, tell: Tell) -> Fraction:  # noqa: PYI034  # as above
        """Wrap a value."""
        made = super().__new__(cls, value)
        made.tell = tell
        return made

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        """Copies and pickles are plain numbers."""
        return float, (_plain(self),)


def watched_range(*arguments: Any) -> range:
    """`range`, telling where a bound is a size."""
    for each in arguments:
        if isinstance(each, Size):
            each.tell("loop", _UNROLLS, sys._getframe(1))  # noqa: SLF001  # the documented way to the caller's frame
            break
    return range(*arguments)


def plainly(values: Any) -> Any:
    """Arguments of an operator without anything that tells, containers included."""
    if isinstance(values, (Size, Fraction)):
        return _plain(values)
    if type(values) in (list, tuple):
        return type(values)([plainly(each) for each in values])
    if isinstance(values, torch.Size):
        return torch.Size([plainly(each) for each in values])
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, Size):
        return int.__int__(value)
    return float.__float__(value) if isinstance(value, Fraction) else value


def _wrapped(result: Any, tell: Tell) -> Any:
    if isinstance(result, bool):
        return result
    if isinstance(result, int):
        return Size(result, tell, derived=True)
    if isinstance(result, float):
        return Fraction(result, tell)
    return tuple(_wrapped(each, tell) for each in result) if type(result) is tuple else result


def _compute(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *others: Any) -> Any:
        try:
            result = function(_plain(self), *map(_plain, others))
        except TypeError:
            return NotImplemented
        return _wrapped(result, self.tell)

    return method


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        if isinstance(other, (list, tuple, str)):
            self.tell("size", _REPEATS, sys._getframe(1))  # noqa: SLF001  # as above
            return function(other, _plain(self))
        try:
            result = function(_plain(other), _plain(self))
        except TypeError:
            return NotImplemented
        return _wrapped(result, self.tell)

    return method


def _compare(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        if isinstance(other, (int, float)) and not (type(other) is int and _holds_always(self, function, other)):
            self.tell("size-branch", _BRANCHES, sys._getframe(1))  # noqa: SLF001  # as above
        return function(_plain(self), _plain(other))

    return method


def _holds_always(size: Any, function: Callable[[Any, Any], Any], other: int) -> bool:
    """Whether a comparison says the same of every size but 0, which nobody exports for: `n > 0`, `max(n, 1)`."""
    return not size.derived and other <= 1 and function(1, other) == function(2, other)


def _convert(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *others: Any) -> Any:
        self.tell("size", _READS, sys._getframe(1))  # noqa: SLF001  # as above
        return function(_plain(self), *others)

    return method


def _key(self: Any) -> int:
    self.tell("size", _LOOKS_UP, sys._getframe(1))  # noqa: SLF001  # as above
    return hash(_plain(self))


def _truth(self: Any) -> bool:
    if self.derived:
        self.tell("size-branch", _BRANCHES, sys._getframe(1))  # noqa: SLF001  # as above
    return bool(_plain(self))


def _arm(kind: type[Any]) -> None:
    for name in ("add", "sub", "mul", "floordiv", "mod", "truediv", "pow"):
        function = getattr(operator, name)
        setattr(kind, f"__{name}__", _compute(function))
        setattr(kind, f"__r{name}__", _reflected(function))
    for name in ("neg", "pos", "abs"):
        setattr(kind, f"__{name}__", _compute(getattr(operator, name)))
    kind.__divmod__ = _compute(divmod)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(kind, f"__{name}__", _compare(getattr(operator, name)))
    kind.__hash__ = _key  # type: ignore[assignment]  # a function of the class becomes a method
    kind.__bool__ = _truth
    conversions: dict[str, Callable[..., Any]] = {
        "int": int, "float": float, "complex": complex,
        "trunc": math.trunc, "ceil": math.ceil, "floor": math.floor, "round": round,
    }  # fmt: skip
    for name, conversion in conversions.items():
        setattr(kind, f"__{name}__", _convert(conversion))


_arm(Size)
_arm(Fraction)
