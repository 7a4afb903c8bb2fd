"""report.json, report.html and report.md in a folder, each whole or not there at all."""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from parity.errors import UsageError
from parity.records import Report
from parity.reports import html, markdown, schema
from parity.storage import Place, existing, probe, storing

NAMES = ("report.json", "report.html", "report.md")


@dataclass(frozen=True, kw_only=True)
class ReportFiles:
    """Where the files of one report are."""

    json: Path
    html: Path
    markdown: Path


def write_reports(report: Report, folder: str | os.PathLike[str]) -> ReportFiles:
    """Write the three files of `report` into `folder`, which is made where it is missing.

    Everything is rendered and on disk under temporary names before the first file is renamed into
    place, so a renderer that raises or a full disk leaves the files of the previous run untouched.

    Raises:
        UsageError: the folder cannot be written to.
        StorageError: there is no room in it.
    """
    texts = [text.encode() for text in (schema.to_json(report), html.render(report), markdown.render(report))]
    check_writable(folder)
    target = Path(folder)
    place = Place(target, "the report", "make room there, or choose another folder with --out DIR")
    with storing(place, needed=sum(map(len, texts))), ExitStack() as cleanup:
        written = []
        for name, text in zip(NAMES, texts, strict=True):
            temporary = target / f".{name}.{secrets.token_hex(4)}.tmp"
            cleanup.callback(temporary.unlink, missing_ok=True)
            temporary.write_bytes(text)
            written.append((temporary, target / name))
        for temporary, final in written:
            temporary.replace(final)
    return ReportFiles(**dict(zip(("json", "html", "markdown"), (path for _, path in written), strict=True)))


def check_writable(folder: str | os.PathLike[str]) -> None:
    """Check that reports can be written to `folder`; nothing is left behind, not even the folder.

    It tries for real, in the nearest folder that exists: permission bits say nothing on a read-only
    file system, nor to root.

    Raises:
        UsageError: the path or one above it is a file, a report's name is a folder, or no file can be
            made there.
    """
    path = Path(folder)
    nearest = existing(path)
    if not nearest.is_dir():
        raise _unwritable(path, f"{nearest} is not a folder")
    taken = [name for name in NAMES if (path / name).is_dir()]
    if taken:
        raise _unwritable(path, f"{path / taken[0]} is a folder, where a file is to be written")
    problem = probe(path)
    if problem is not None:
        raise _unwritable(path, f"{nearest}: {problem.strerror or problem}") from problem


def _unwritable(path: Path, got: str) -> UsageError:
    return UsageError(
        "the report cannot be written",
        where=str(path),
        allowed="a folder that is writable, or that can be made",
        got=got,
        hint="choose another folder with --out DIR",
    )
