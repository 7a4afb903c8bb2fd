"""docs/diff.md names every field of the comparison, every limit that it judges by, and no field that there is not."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from parity.diffing import DIFF_SCHEMA, DIFF_STATUS, Change, Diff, Difference, Reading, Side, Trend
from parity.diffing.intervals import DECISIONS_MATTER, LATENCY_MATTERS
from parity.diffing.values import LEAST_BYTES, LEAST_MEMORY, MEMORY_MATTERS, NUMERIC_MATTERS, SIZE_MATTERS, SQNR_MATTERS
from parity.gates.golden import NOTABLE

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "diff.md").read_text(encoding="utf-8")
JSON = PAGE.partition("\n## JSON\n")[2]


def named(kind: type[Any]) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


@pytest.mark.parametrize("kind", [Change, Diff, Difference, Reading, Side])
def test_every_field_is_described(kind: type[Any]) -> None:
    assert named(kind) <= set(re.findall(r"`(\w+)`", JSON))


def test_no_field_is_described_that_does_not_exist() -> None:
    rows = {name for cell in re.findall(r"^\| (`.+?) \|", JSON, re.MULTILINE) for name in re.findall(r"`(\w+)`", cell)}
    assert rows <= named(Change) | named(Diff)
    assert DIFF_SCHEMA in JSON
    assert all(f"`{trend}`" in JSON for trend in Trend)


def test_every_exit_status_is_described() -> None:
    described = {int(row) for row in re.findall(r"^\| (\d) \|", PAGE, re.MULTILINE)}
    assert described == {*DIFF_STATUS.values(), 2}


@pytest.mark.parametrize(
    "words",
    [
        f"more than {NUMERIC_MATTERS:g} times what they were, and more than {NOTABLE:g} floors",
        f"more than {SQNR_MATTERS:g} dB",
        f"within {DECISIONS_MATTER:g} on both sides",
        f"a factor of {LATENCY_MATTERS:g}",
        f"an **artifact** by {SIZE_MATTERS - 1:.0%}".replace("%", " %") + f" and by {LEAST_BYTES // 1024} KiB",
        f"by {LEAST_MEMORY // 1024**2} MiB",
    ],
)
def test_every_limit_is_described(words: str) -> None:
    assert words in " ".join(PAGE.split())


def test_a_quarter_is_what_memory_has_to_grow_by() -> None:
    assert MEMORY_MATTERS == 1.25
    assert "has to grow by a quarter" in PAGE
