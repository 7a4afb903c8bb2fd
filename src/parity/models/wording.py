"""Names out of files that nobody vouches for, as a message can show them."""

from __future__ import annotations

from collections.abc import Iterable

SHOWN = 5
"""Names that a message lists before it says how many more there are."""


def printable(text: str) -> str:
    """The text without what a terminal would take for a command: such letters are written as their escapes."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def listed(names: Iterable[str], shown: int = SHOWN) -> str:
    """`a, b and 3 more`; empty where there are none."""
    every = [printable(name) for name in names]
    more = len(every) - shown
    return ", ".join(every[:shown]) + (f" and {more} more" if more > 0 else "")
