"""What users act on in a model's outputs, as it is written: one kind, or one for each output."""

from __future__ import annotations

from collections.abc import Mapping

from parity.errors import UsageError, did_you_mean
from parity.records import DECISIONS

EVERY = "*"
"""In the place of an output's name: every output that the kind fits."""

Written = str | Mapping[str, str]
"""`"embedding"`, or `{"logits": "classes"}`."""


def parse_decision(written: Written | None, where: str) -> tuple[tuple[str, str], ...]:
    """Kinds by output name, `*` where one is given for all; empty where nothing is written.

    Args:
        written: A kind, or a kind for each output.
        where: What to name in an error.

    Raises:
        UsageError: there is no such kind.
    """
    pairs = ((EVERY, written),) if isinstance(written, str) else tuple((written or {}).items())
    for _, kind in pairs:
        if kind not in DECISIONS:
            raise UsageError(
                f"there is no decision {kind!r}",
                where=where,
                allowed=", ".join(DECISIONS),
                hint=did_you_mean(kind, DECISIONS),
            )
    return pairs
