"""The same cell of two reports, found by its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Pair(Generic[T_co]):
    """One thing as both reports have it; None where one of them does not."""

    old: T_co | None
    new: T_co | None

    @property
    def either(self) -> T_co:
        """The new one, or the old one where there is no other."""
        found = self.new if self.new is not None else self.old
        assert found is not None  # noqa: S101  # one side is what made the pair
        return found


def pairs(old: Iterable[T], new: Iterable[T], name: Callable[[T], Hashable]) -> list[Pair[T]]:
    """Every thing of both, in the order of the new report, and then what the old one alone has.

    Things of the same name are taken in the order in which they stand.
    """
    then, now = _named(old, name), _named(new, name)
    return [Pair(then.get(key), now.get(key)) for key in {**now, **then}]


def _named(things: Iterable[T], name: Callable[[T], Hashable]) -> dict[tuple[Hashable, int], T]:
    seen: Counter[Hashable] = Counter()
    found: dict[tuple[Hashable, int], T] = {}
    for each in things:
        key = name(each)
        found[key, seen[key]] = each
        seen[key] += 1
    return found
