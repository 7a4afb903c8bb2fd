"""A comparison of two reports as JSON: every cell, unchanged ones as well. The records are the only definition."""

from __future__ import annotations

from functools import cache

from pydantic import TypeAdapter
from pydantic_core import to_json

from parity.diffing import Diff


def diff_json(diff: Diff) -> str:
    """`diff` as strict JSON, indented by two spaces; fields that do not apply are absent.

    A float that is not finite is one of the strings `"NaN"`, `"Infinity"` and `"-Infinity"`, as in report.json.
    """
    plain = _adapter().dump_python(diff, exclude_none=True)
    return to_json(plain, indent=2, inf_nan_mode="strings").decode()


@cache
def _adapter() -> TypeAdapter[Diff]:
    return TypeAdapter(Diff)
