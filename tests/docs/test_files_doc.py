"""docs/files.md says what parity does with every kind of file: each is built and given to the command line."""

from __future__ import annotations

import os
import re

from parity.models.files.weights import STATE_KEYS
from tests.docs import files_table
from tests.docs.files_table import PAGE, TABLES, difference, renewed
from tests.docs.shell import ROOT
from tests.forked import run_forked

PAGE_TEXT = PAGE.read_text(encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    made = text.partition(files_table.BEGIN)[2].partition(files_table.END)[0]
    cells = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in made.splitlines() if line.startswith("| ")]
    return [row for row in cells if row[0] not in ("file", "---")]


def test_the_table_is_what_the_command_line_does() -> None:
    """A process of its own: what is imported and trusted on the way is gone with it."""
    ran = run_forked(files_table.run, ("files_table", "--check"), ROOT, os.environ)
    assert ran.status == 0, f"run python -m tests.docs.files_table\n{ran.stdout}{ran.stderr}"


def test_a_row_that_says_something_else_is_noticed() -> None:
    made = PAGE_TEXT.partition(files_table.BEGIN)[2].partition("\n" + files_table.END)[0]
    assert difference(PAGE_TEXT, made) == ""
    assert renewed(PAGE_TEXT, made) == PAGE_TEXT
    changed = made.replace("| 2 | the model file is empty |", "| 0 | pass |")
    assert "+| empty" in difference(PAGE_TEXT, changed)


def test_every_kind_has_its_row() -> None:
    assert [row[0] for row in rows(PAGE_TEXT)] == [kind.name for kinds in TABLES.values() for kind in kinds]


def test_no_file_ends_in_a_traceback_and_none_runs_code() -> None:
    for row in rows(PAGE_TEXT):
        assert row[-2] in ("0", "2"), row
        assert "RAN CODE" not in row[-1]
        assert not re.search(r"\b\w+Error: ", row[-1]), row


def test_the_order_in_which_weights_are_taken_is_the_one_that_is_used() -> None:
    listed = PAGE_TEXT.partition("<!-- keys -->")[2].partition("<!-- end of keys -->")[0]
    assert tuple(re.findall(r"`(\w+)`", listed)) == STATE_KEYS
