"""Samples in JSON lines: `{"input_ids": [...], "attention_mask": [...]}`, or `[1, 2, 3]` for a single input."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parity.errors import SampleError
from parity.models.wording import printable
from parity.samples.rows import Row, Rows

_FORM = '{"input_ids": [101, 7592, 102], "label": 1} or [101, 7592, 102], one sample a line'

_ONE_A_LINE = "a document of all samples has to become one line a sample: jq -c '.[]'"


def open_lines(path: Path) -> Rows:
    """One sample a line, read when it is asked for; empty lines are passed over."""
    return Rows(str(path), _rows(path))


def _rows(path: Path) -> Iterator[Row]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            text = line.removeprefix(b"\xef\xbb\xbf").strip()
            if not text:
                continue
            place = f"{path}, line {number}"
            found = _parsed(text, place)
            yield Row(found if isinstance(found, dict) else {0: found}, place)


def _parsed(text: bytes, place: str) -> Any:
    try:
        found = json.loads(text)
    except ValueError as error:
        shown = printable(text.decode(errors="replace"))
        raise SampleError(
            f"this line is no JSON: {error}", where=place, allowed=_FORM,
            got=shown if len(shown) <= 60 else shown[:57] + "...",  # noqa: PLR2004  # one line of a message
            hint=_ONE_A_LINE,
        ) from error  # fmt: skip
    of_samples = isinstance(found, list) and any(isinstance(each, dict) for each in found)
    if of_samples or not isinstance(found, dict | list | int | float):
        got = printable(text.decode(errors="replace")[:60])
        hint = _ONE_A_LINE if of_samples else None
        raise SampleError("this line is no sample", where=place, allowed=_FORM, got=got, hint=hint)
    return found
