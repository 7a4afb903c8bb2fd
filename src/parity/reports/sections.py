"""Tables as every report lays them out: a head, lines of text, and a verdict where something is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from parity.records import Verdict
from parity.reports.numbers import ABSENT


@dataclass(frozen=True, kw_only=True)
class Line:
    """One result: what it is about, its numbers side by side, and whatever else is known of it.

    A number may have a second line, its interval, after a line break. `verdict` is None where there is none.
    """

    what: str
    numbers: tuple[str, ...]
    verdict: Verdict | None = None
    more: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Section:
    """The results of one kind; `columns` heads what a line is about and its numbers.

    `judged` is False where no line can have a verdict. `notes` are read with the whole of it.
    """

    title: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    judged: bool = True
    notes: tuple[str, ...] = ()


def without_absent(section: Section) -> Section:
    """The section without columns in which no line has anything, but always with what its lines are about."""
    kept = [at for at in range(len(section.columns) - 1) if any(each.numbers[at] != ABSENT for each in section.lines)]
    return replace(
        section,
        columns=(section.columns[0], *(section.columns[at + 1] for at in kept)),
        lines=tuple(replace(line, numbers=tuple(line.numbers[at] for at in kept)) for line in section.lines),
    )


def stacked(text: str, under: str) -> str:
    """A number with its interval under it; only the number where there is none."""
    return f"{text}\n{under}" if under and under != ABSENT else text


def known(*texts: str | None) -> tuple[str, ...]:
    """The texts that are there, each once, in order."""
    present: Iterable[str] = (text for text in texts if text)
    return tuple(dict.fromkeys(present))


def told(text: str, value: object, write: Callable[..., str] = str) -> str | None:
    """`text` with the value written into it; None where there is no value."""
    return None if value is None else text.format(write(value))
