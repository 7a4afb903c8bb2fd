"""The three files of a report appear whole, or the previous ones stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from parity.errors import StorageError, UsageError
from parity.reports import files, schema

from . import examples


def _listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_it_makes_the_folder_and_writes_three_files_and_nothing_else(tmp_path: Path) -> None:
    written = files.write_reports(examples.all_pass(), tmp_path / "a" / "b")
    assert sorted(_listing(tmp_path / "a" / "b")) == ["report.html", "report.json", "report.md"]
    assert schema.from_json(written.json.read_text(encoding="utf-8")) == examples.all_pass()
    assert written.html.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert written.markdown.read_text(encoding="utf-8").startswith("## parity")


@pytest.mark.parametrize("renderer", ["schema.to_json", "html.render", "markdown.render"])
def test_a_renderer_that_raises_leaves_the_previous_files(
    renderer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> NoReturn:
        raise RuntimeError("planted")

    files.write_reports(examples.all_pass(), tmp_path)
    before = _listing(tmp_path)
    monkeypatch.setattr(f"parity.reports.{renderer}", broken)
    with pytest.raises(RuntimeError, match="planted"):
        files.write_reports(examples.nine_targets(), tmp_path)
    assert _listing(tmp_path) == before


def test_a_disk_that_fills_up_leaves_the_previous_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.write_reports(examples.all_pass(), tmp_path)
    before = _listing(tmp_path)
    write = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        if ".report.md" in self.name:
            self.touch()
            raise OSError(28, "No space left on device")
        return write(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StorageError, match="the report cannot be written: the disk is full") as caught:
        files.write_reports(examples.nine_targets(), tmp_path)
    assert caught.value.where == str(tmp_path)
    assert "--out DIR" in str(caught.value)
    assert _listing(tmp_path) == before
    with pytest.raises(StorageError):
        files.write_reports(examples.nine_targets(), tmp_path / "not" / "yet")
    assert _listing(tmp_path) == before


def test_a_second_report_replaces_the_first(tmp_path: Path) -> None:
    files.write_reports(examples.all_pass(), tmp_path)
    written = files.write_reports(examples.nine_targets(), tmp_path)
    assert schema.from_json(written.json.read_text(encoding="utf-8")).verdict == "fail"
    assert len(_listing(tmp_path)) == len(files.NAMES)


def test_checking_leaves_nothing_behind(tmp_path: Path) -> None:
    files.check_writable(tmp_path / "not" / "yet")
    files.check_writable(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_a_path_that_is_a_file_is_refused(below: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError) as caught:
        files.check_writable(tmp_path / "file" / below)
    assert "is not a folder" in str(caught.value)
    assert "--out DIR" in str(caught.value)


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        files.check_writable(tmp_path)


def test_a_folder_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permission bits do not stop root, so the refusal is planted."""

    def refused(**_: object) -> NoReturn:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    with pytest.raises(UsageError) as caught:
        files.check_writable(tmp_path / "out")
    assert caught.value.got == f"{tmp_path}: Permission denied"


def test_importing_the_package_loads_no_renderer() -> None:
    code = "import sys, parity.reports; print(sorted({'pydantic', 'jinja2', 'plotly', 'rich'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "[]"
