"""What to say where the model itself does not run at sizes that its signature allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parity.models.signature import Dim, Signature
from parity.samples.calls import Call

Size = tuple[str, int]
"""A symbol and its size."""


def refused_notes(calls: Sequence[Call], refused: Mapping[Call, str], signature: Signature) -> tuple[str, ...]:
    """One note for each size at which every call failed, and one for each call that fails for another reason.

    Args:
        calls: All calls that were made.
        refused: What was raised, by call.
        signature: What to narrow.
    """
    answered = {size for call in calls if call not in refused for size in _sizes(call, signature)}
    notes: dict[str, str] = {}
    for call, error in refused.items():
        sizes = _sizes(call, signature)
        blamed = [size for size in sizes if size not in answered] or sizes
        narrower = _narrower(signature.symbols[blamed[0][0]], blamed[0][1], answered) if len(blamed) == 1 else None
        where = ", ".join(f"{name}={size}" for name, size in blamed)
        advice = f", e.g. `{narrower}`" if narrower else ""
        notes.setdefault(where, f"{_line(error)}: narrow the signature{advice}")
    return tuple(f"the model itself does not run at {where}: {note}" for where, note in notes.items())


def _sizes(call: Call, signature: Signature) -> list[Size]:
    batch = [(signature.batch, len(call.samples))] if signature.batch else []
    return [*batch, *call.sizes]


def _narrower(dim: Dim, size: int, answered: set[Size]) -> str | None:
    """The dimension without this size, where that is at one end of what ran."""
    ran = sorted(each for name, each in answered if name == dim.symbol)
    if not ran:
        return None
    if size < ran[0]:
        return str(Dim(symbol=dim.symbol, low=ran[0], high=dim.high, step=dim.step))
    if size > ran[-1]:
        return str(Dim(symbol=dim.symbol, low=dim.low, high=ran[-1], step=dim.step))
    return None


def _line(error: str) -> str:
    return next(iter(error.strip().splitlines()), "")[:200]
