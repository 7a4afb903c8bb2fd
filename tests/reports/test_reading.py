"""A report is read from its file or its folder, and what cannot be read is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from parity.errors import ParityError, UsageError
from parity.reports import schema
from parity.reports.reading import read_report
from tests.reports import examples


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "report.json").write_text(schema.to_json(examples.all_pass()), encoding="utf-8")
    return tmp_path


def test_a_report_is_read_from_its_file_or_its_folder(folder: Path) -> None:
    assert read_report(folder) == read_report(folder / "report.json") == examples.all_pass()


@pytest.mark.parametrize("name", ["nowhere", "nowhere/report.json"])
def test_a_report_that_is_not_there_says_how_to_make_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no such report") as caught:
        read_report(tmp_path / name)
    assert caught.value.hint == "parity report MODEL"


def test_a_folder_without_a_report_names_the_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_report(tmp_path)
    assert caught.value.where == str(tmp_path / "report.json")


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b'{"schema": "parity-re', ""),
        (b"\x80\x02\xff\xfe", ""),
        (b'{"schema": "parity-report/1"}', ": parity, created"),
        (b'{"schema": "parity-report/9"}', ": schema"),
    ],
)
def test_damage_is_located_in_its_file(folder: Path, content: bytes, where: str) -> None:
    (folder / "report.json").write_bytes(content)
    with pytest.raises(ParityError) as caught:
        read_report(folder)
    assert caught.value.where is not None
    assert caught.value.where.startswith(f"{folder / 'report.json'}{where}")
    assert caught.value.hint
