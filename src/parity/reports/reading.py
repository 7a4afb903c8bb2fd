"""A report as a command is given it: its report.json, or the folder that holds one."""

from __future__ import annotations

import os
from pathlib import Path

from parity.errors import ParityError, UsageError
from parity.records import Report
from parity.reports.schema import from_json


def read_report(given: str | os.PathLike[str]) -> Report:
    """The report in a file or a folder.

    Raises:
        UsageError: there is none, or its file cannot be read.
        ParityError: it is damaged, or of another schema; the message names the file.
    """
    path = report_file(given)
    if not path.is_file():
        raise UsageError("there is no such report", where=str(path), hint="parity report MODEL")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            "this report cannot be read", where=str(path), allowed="a report.json, which is JSON in UTF-8",
            got=str(error), hint="run `parity report MODEL` again",
        ) from error  # fmt: skip
    try:
        return from_json(text)
    except ParityError as error:
        place = f"{path}: {error.where}" if error.where else str(path)
        raise ParityError(
            error.what, where=place, allowed=error.allowed, got=error.got, hint=error.hint
        ) from error  # fmt: skip


def report_file(given: str | os.PathLike[str]) -> Path:
    """The report.json that a path stands for."""
    path = Path(given)
    return path / "report.json" if path.is_dir() else path
