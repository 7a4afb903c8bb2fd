"""How numbers are written in every report: three significant digits, and `n/a` where there is none."""

from __future__ import annotations

import math

ABSENT = "n/a"

_DIGITS = 3
_EXACT_DIGITS = 17
_KILO = 1000
_PLAIN_BELOW = 1e6
_PLAIN_ABOVE = 1e-3


def number(value: float | None, digits: int = _DIGITS) -> str:
    """`value` at `digits` significant digits: `1.05`, `139`, `1230`, `5.9e-07`, `inf`, `nan`."""
    if value is None:
        return ABSENT
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    text = f"{value:.{digits}g}"
    if _PLAIN_ABOVE <= abs(value) < _PLAIN_BELOW and "e" in text:
        return f"{float(text):.0f}"
    return text


def against(value: float | None, limit: float | None, separator: str = " / ") -> str:
    """`value` beside its limit, as `1.05 / 10`; only the value where there is no limit.

    A value that is not at its limit never reads as if it were: digits are added until they differ.
    """
    if value is None:
        return ABSENT
    if limit is None:
        return number(value)
    digits = _DIGITS
    while value != limit and number(value, digits) == number(limit) and digits < _EXACT_DIGITS:
        digits += 1
    return f"{number(value, digits)}{separator}{number(limit)}"


def share(value: float | None) -> str:
    """A share of one, as `0.985`; one that is not quite 1 never reads as `1`."""
    return against(value, 1.0, "|").partition("|")[0]


def interval(low: float | None, high: float | None) -> str:
    """A confidence interval, as `0.7..0.74`, or `n/a` unless both ends are known."""
    return ABSENT if low is None or high is None else f"{share(low)}..{share(high)}"


def bounds(low: float | None, high: float | None) -> str:
    """An interval of something that is no share, as `129..133`; empty unless both ends are known."""
    return "" if low is None or high is None else f"{number(low)}..{number(high)}"


def percent(share_of_one: float | None) -> str:
    """A share of one in percent: `31 %`."""
    return ABSENT if share_of_one is None else f"{number(100 * share_of_one)} %"


def milliseconds(value: float | None) -> str:
    """Milliseconds with their unit: `139 ms`."""
    return ABSENT if value is None else f"{number(value)} ms"


def seconds(value: float | None) -> str:
    """Seconds with their unit: `3.1 s`."""
    return ABSENT if value is None else f"{number(value)} s"


def size(value: int | None) -> str:
    """Bytes in decimal units: `512 B`, `46.8 MB`."""
    if value is None:
        return ABSENT
    scaled = float(value)
    for unit in ("B", "kB", "MB", "GB"):
        # Below this the number rounds to at most 999 of the unit, so `1000 kB` is never written.
        if abs(scaled) < _KILO - 0.5:
            return f"{number(scaled)} {unit}"
        scaled /= _KILO
    return f"{number(scaled)} TB"


def digest(value: str) -> str:
    """The first twelve characters of a digest, which is enough to tell two of them apart."""
    return value[:12] or ABSENT


def count(n: int, noun: str) -> str:
    """`1 sample`, `540 samples`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
