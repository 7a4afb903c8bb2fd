"""Names out of files that nobody vouches for, as a message can show them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path

SHOWN = 5
"""Names that a message lists before it says how many more there are."""

_ADDRESS = re.compile(r"(^|/)[a-z][a-z0-9+]+:/{1,2}\w", re.IGNORECASE)
"""How an address begins; a path that was made of one has a single slash left, and may have a folder before it."""


def typed(path: Path) -> str:
    """A path as a shell takes it, quoted where it has to be."""
    return shlex.quote(str(path))


def address_hint(text: str) -> str | None:
    """What to do with an address (`https://…`, `hf://…`, `s3://…`) in place of a file, or None for anything else."""
    return "nothing is downloaded: download it first, and give the file" if _ADDRESS.search(text) else None


def printable(text: str) -> str:
    """The text without what a terminal would take for a command: such letters are written as their escapes."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def listed(names: Iterable[str], shown: int = SHOWN) -> str:
    """`a, b and 3 more`; empty where there are none."""
    every = [printable(name) for name in names]
    more = len(every) - shown
    return ", ".join(every[:shown]) + (f" and {more} more" if more > 0 else "")
