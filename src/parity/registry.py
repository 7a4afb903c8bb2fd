"""`Registry[T]`: names that resolve to objects only when they are asked for.

Built-in entries are written `package.module:attribute`, so that listing them imports nothing; other
packages add theirs through an entry point group.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Generic, Protocol, TypeVar

from parity.errors import UnknownName, did_you_mean


@dataclass(frozen=True)
class Availability:
    """Whether something can be used here: its version, or the reason why not."""

    version: str = ""
    reason: str | None = None

    def __bool__(self) -> bool:
        return self.reason is None

    def __str__(self) -> str:
        return self.version if self.reason is None else f"unavailable: {self.reason}"


def needs(*packages: str) -> Availability:
    """Availability from the installed distributions alone, without importing any of them."""
    found: list[str] = []
    for package in packages:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            return Availability(reason=f"{package} is not installed (pip install {package})")
    return Availability(version=", ".join(found))


def needs_one_of(*packages: str, install: str) -> Availability:
    """Availability from whichever of several distributions of the same thing is installed."""
    for package in packages:
        found = needs(package)
        if found:
            return found
    return Availability(reason=f"{packages[0]} is not installed (pip install {install})")


class Named(Protocol):
    """What a registry can hold."""

    @property
    def name(self) -> str:
        """What it is asked for by."""
        ...


T = TypeVar("T", bound=Named)


@dataclass
class Registry(Generic[T]):
    """Lazy, named entries of one kind.

    Attributes:
        kind: What an entry is called in messages, such as `exporter`.
        group: The entry point group that other packages add to, or None.
        builtin: Name to `module:attribute` of a callable without arguments that makes the entry.
    """

    kind: str
    group: str | None = None
    builtin: Mapping[str, str] = field(default_factory=dict)
    _made: dict[str, T] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Every known name: built-in ones in the order they were written, then the others."""
        return list(dict.fromkeys([*self.builtin, *self._entry_points(), *self._made]))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: str) -> bool:
        return name in self.names()

    def add(self, entry: T) -> T:
        """Register a made entry; the last one of a name wins, so that a file can be imported twice."""
        self._made[entry.name] = entry
        return entry

    def get(self, name: str) -> T:
        """The entry of that name.

        Raises:
            UnknownName: nothing is registered under it; the message offers the nearest names.
        """
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> T:
        if name in self.builtin:
            module, _, attribute = self.builtin[name].partition(":")
            made: T = getattr(importlib.import_module(module), attribute)()
            return made
        entry_points = self._entry_points()
        if name in entry_points:
            plugged: T = entry_points[name].load()()
            return plugged
        raise UnknownName(f"there is no {self.kind} {name!r}", hint=did_you_mean(name, self.names()))

    def _entry_points(self) -> dict[str, metadata.EntryPoint]:
        if self.group is None:
            return {}
        return {entry.name: entry for entry in metadata.entry_points(group=self.group)}
