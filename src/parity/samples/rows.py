"""Samples as they were read, before they are held against a signature: names or positions, and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from parity.arrays import Array
from parity.errors import SampleError, did_you_mean
from parity.models import wording
from parity.samples.values import array_of, is_array

Key = str | int
"""What a value of a sample goes by: its name, or its position where it has none."""

LABELS = ("labels", "label", "y", "target", "targets")
"""What labels are called beside samples, where no input has that name."""

_SHOWN = 8


class Column(Protocol):
    """The values of one input in all samples: an array whose first axis counts them."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, without reading the numbers."""

    def __iter__(self) -> Iterator[Any]:
        """One row after the other, each read when it is asked for."""

    def whole(self) -> Array:
        """All of it in memory, or mapped into it."""


@dataclass(frozen=True)
class Columns:
    """One stacked array an input."""

    where: str
    arrays: Mapping[Key, Column]


@dataclass(frozen=True)
class Row:
    """One sample.

    Attributes:
        values: Arrays, tensors or plain numbers.
        place: Where it was read, for messages: a file, a line, a position.
        label: Its label where that is none of the values.
    """

    values: Mapping[Key, Any]
    place: str
    label: Any = None


@dataclass(frozen=True)
class Rows:
    """One sample after the other, each read when it is asked for; `labels` of all of them where they are known."""

    where: str
    items: Iterable[Row]
    labels: Array | None = None


Source = Columns | Rows


class Held:
    """A column that somebody else holds: an array or a tensor, which may be mapped from a file, or a list of values."""

    def __init__(self, value: Any, where: str) -> None:
        self._value = value
        self._where = where

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape; of a list, whose values may differ in theirs, its length alone."""
        return tuple(self._value.shape) if is_array(self._value) else (len(self._value),)

    def __iter__(self) -> Iterator[Any]:
        """One value after the other."""
        return (self._value[index] for index in range(self.shape[0] if self.shape else 0))

    def whole(self) -> Array:
        """All of it."""
        return array_of(self._value, self._where)


class GatheredLabels:
    """Labels that come with the samples: those of the samples that were taken so far."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._found: list[Array] = []
        self._taken = 0

    def add(self, label: Any, place: str) -> None:
        """Keep the label of one sample, where it is one: integers; None and what else stands there are none."""
        self._taken += 1
        if label is not None and is_label(label):
            self._found.append(array_of(label, place).astype(np.int64))

    def whole(self) -> Array | None:
        """`int64[n]` or `int64[n, ...]`, or None where no sample has any.

        Raises:
            SampleError: some have a label and others none, or they differ in shape.
        """
        if not self._found:
            return None
        if len(self._found) != self._taken or len({label.shape for label in self._found}) > 1:
            raise SampleError(
                "some samples have a label and others none, or one of another shape", where=self._where,
                allowed="an integer, or an array of them, for every sample or for none",
                got=f"{len(self._found)} labels for {self._taken} samples",
            )  # fmt: skip
        return np.stack(self._found)


Labels = Array | GatheredLabels


def is_label(value: Any) -> bool:
    """Whether a value is a label: an integer, or an array of them."""
    if is_array(value):
        kind = str(value.dtype)
        return "int" in kind or kind.endswith("bool")
    return isinstance(value, int) or (isinstance(value, list) and bool(value) and all(map(is_label, value)))


@dataclass(frozen=True)
class Chosen:
    """Which value is which input, by input; `label` is what else stands beside them and may be a label."""

    inputs: Mapping[str, Key]
    label: Key | None = None


def choose(keys: Iterable[Key], names: Sequence[str], where: str) -> Chosen:
    """Find the inputs among the values of a sample.

    A single value is the single input whatever it is called. Values without names stand in the order of the inputs;
    where there is one more, the last is the label.

    Raises:
        SampleError: an input is missing, or there are too many or too few values.
    """
    known = list(keys)
    if all(isinstance(key, int) for key in known):
        return _by_position(known, names, where)
    label = next((each for each in LABELS if each in known and each not in names), None)
    others = [key for key in known if key in names or key not in LABELS]
    if len(names) == 1 and names[0] not in known and len(others) == 1:
        return Chosen({names[0]: others[0]}, label)
    missing = [name for name in names if name not in known]
    if missing:
        raise SampleError(
            f"the samples have no input {missing[0]!r}", where=where, allowed=", ".join(names), got=listed(known),
            hint=_hint(missing[0], list(map(str, known))),
        )  # fmt: skip
    return Chosen({name: name for name in names}, label)


def _by_position(keys: list[Key], names: Sequence[str], where: str) -> Chosen:
    if len(keys) not in (len(names), len(names) + 1):
        raise SampleError(
            f"a sample has {len(keys)} arrays without names, and the model {len(names)} inputs", where=where,
            allowed=f"one each for {', '.join(names)}, then a label or nothing", got=f"{len(keys)} arrays",
            hint="give them names: a dictionary of arrays, or a .npz",
        )  # fmt: skip
    return Chosen(dict(zip(names, keys, strict=False)), keys[-1] if len(keys) > len(names) else None)


def listed(keys: Iterable[Key]) -> str:
    """The first few names, for a message."""
    return wording.listed(map(str, keys), _SHOWN) or "nothing"


def _hint(missing: str, keys: list[str]) -> str | None:
    if any(key.endswith((".weight", ".running_mean")) for key in keys):
        return "these are the weights of a model: samples are inputs for it"
    return did_you_mean(missing, keys) if keys else None
