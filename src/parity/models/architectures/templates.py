"""The keys and shapes of an architecture, with what its builder's numbers change in them.

A dimension is a number, or a term in one argument of the builder: `num_classes` makes the head of a classifier,
`4 * num_classes` the boxes of a detector, `image_size² / 256 + 1` the positions of a transformer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from parity.models.architectures.references import Reference

Shapes = Mapping[str, tuple[int, ...]]

COUNTER = ".num_batches_tracked"
"""A batch norm's counter of training steps. Eval mode never reads it and some files lack it, so it decides nothing."""


@dataclass(frozen=True)
class Term:
    """A dimension that depends on an argument: `scale * argument ** power + offset`."""

    argument: str
    power: int
    scale: Fraction
    offset: int

    def solve(self, size: int) -> int | None:
        """The argument that gives this size, or None where no positive whole number does."""
        value = (size - self.offset) / self.scale
        if value < 1 or value.denominator != 1:
            return None
        found = value.numerator if self.power == 1 else math.isqrt(value.numerator)
        return found if found**self.power == value else None


@dataclass(frozen=True)
class Fit:
    """How far a state dict fits a template: the arguments that were solved for, and how many keys fit with them."""

    values: Mapping[str, int]
    fitting: int


@dataclass(frozen=True)
class Template:
    """One architecture as its builder makes it with some arguments.

    Attributes:
        name: What torchvision calls it.
        arguments: Flags that this template was made with, such as `aux_logits=False`.
        defaults: Arguments that are solved for, and their defaults.
        shapes: Key to dimensions, counters left out.
    """

    name: str
    arguments: tuple[tuple[str, Any], ...]
    defaults: Mapping[str, int]
    shapes: Mapping[str, tuple[int | Term, ...]]

    def fit(self, shapes: Shapes) -> Fit:
        """Solve for the arguments, and count the keys that fit."""
        values: dict[str, int] = {}
        fitting = sum(key in shapes and _fits(dims, shapes[key], values) for key, dims in self.shapes.items())
        return Fit(values, fitting)

    def is_complete(self, fit: Fit, shapes: Shapes) -> bool:
        """Whether a fit leaves no key over on either side."""
        return fit.fitting == len(self.shapes) == len(shapes)

    def share(self, fit: Fit, shapes: Shapes) -> float:
        """The keys that fit, as a share of all keys on either side."""
        return fit.fitting / (len(self.shapes) + len(shapes) - fit.fitting)

    def reference(self, values: Mapping[str, int]) -> Reference:
        """The reference that builds it, arguments at their defaults left out."""
        solved = ((name, value) for name, value in values.items() if value != self.defaults[name])
        return Reference("torchvision", self.name, (*self.arguments, *solved))


def _fits(dims: tuple[int | Term, ...], shape: tuple[int, ...], values: dict[str, int]) -> bool:
    """Whether a shape fits; arguments that no key before it has told are solved for and noted in `values`."""
    if len(dims) != len(shape):
        return False
    solved: dict[str, int] = {}
    for dim, size in zip(dims, shape, strict=True):
        if isinstance(dim, Term):
            value = dim.solve(size)
            if value is None or value != (values | solved).get(dim.argument, value):
                return False
            solved[dim.argument] = value
        elif dim != size:
            return False
    values |= solved
    return True


def without_counters(shapes: Shapes) -> Shapes:
    """A state dict's shapes less the counters of its batch norms; any other tensor of that name stays."""

    def is_counter(key: str) -> bool:
        return key.endswith(COUNTER) and shapes[key] == () and f"{key.removesuffix(COUNTER)}.running_mean" in shapes

    return {key: shape for key, shape in shapes.items() if not is_counter(key)}


def missing_counters(shapes: Shapes) -> tuple[str, ...]:
    """Counters that batch norms usually have and this state dict lacks."""
    means = (key.removesuffix(".running_mean") for key in shapes if key.endswith(".running_mean"))
    return tuple(name + COUNTER for name in means if name + COUNTER not in shapes)
