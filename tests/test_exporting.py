"""A cache that cannot be written to costs the caching alone, and the report says so."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from parity import exporting
from parity.artifacts import Manifest
from parity.cache import ArtifactCache
from parity.errors import StorageError
from parity.exporting import Exported, Exporting
from parity.records import Symptom
from parity.workers.export import ExportTask, export
from parity.workers.load import load
from parity.workers.process import Children
from tests.workers import models
from tests.workers.models import spec

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

Make = Callable[[Path], Exported]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(cache: Path) -> Exported:
        plain = spec(models.Plain)
        loaded = load(plain, tmp_path / "samples", (1, 3))
        where = Exporting(
            plain, tmp_path / "samples", tmp_path / "artifacts", ArtifactCache(cache, tmp_path / "spare"),
            Children(in_process=True), 60.0, 1, lambda _: None,
        )  # fmt: skip
        return where.make("trace", loaded, None)

    return made


def test_a_cache_that_can_be_written_to_is_used_without_a_word(make: Make, tmp_path: Path) -> None:
    first, second = make(tmp_path / "cache"), make(tmp_path / "cache")
    for made, cached in ((first, False), (second, True)):
        assert made.artifact is not None
        assert made.facts is not None
        assert made.facts.cached is cached
        assert not [note for note in made.facts.notes if "not cached" in note]
    assert not (tmp_path / "spare").exists()


def test_one_that_never_could_be_is_left_alone(make: Make, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    made = make(blocked / "cache")
    assert made.symptom is Symptom.OK
    assert made.artifact is not None
    assert made.artifact.entry.is_file()
    assert made.facts is not None
    assert made.facts.notes[-1].startswith("not cached: the cache cannot be written: ")
    assert str(blocked) in made.facts.notes[-1]


def test_one_that_fills_up_while_it_is_written_costs_a_second_export(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, folders = tmp_path / "cache", []

    def fills_up(task: ExportTask) -> Manifest:
        folders.append(task.folder)
        if task.folder.is_relative_to(cache):
            (task.folder / "half").write_text("of a file")
            raise OSError(errno.ENOSPC, "No space left on device")
        return export(task)

    monkeypatch.setattr(exporting, "export", fills_up)
    made = make(cache)
    assert made.symptom is Symptom.OK
    assert made.facts is not None
    assert "the disk is full" in made.facts.notes[-1]
    assert [folder.parent.name for folder in folders] == ["cache", "spare"]
    assert [each for each in cache.iterdir() if each.is_dir()] == []


def test_where_there_is_no_room_anywhere_it_is_no_fault_of_the_target(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: ExportTask) -> Manifest:
        raise RuntimeError("unexpected pos 576 vs 534")

    monkeypatch.setattr(exporting, "export", full)
    with pytest.raises(StorageError, match="the disk is full"):
        make(tmp_path / "cache")


def test_what_an_export_does_wrong_itself_is_its_symptom(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: ExportTask) -> Manifest:
        raise RuntimeError("this operator cannot be exported")

    monkeypatch.setattr(exporting, "export", broken)
    made = make(tmp_path / "cache")
    assert (made.artifact, made.symptom) == (None, Symptom.EXCEPTION)
    assert made.message == "RuntimeError: this operator cannot be exported"


def test_a_full_folder_of_artifacts_is_not_the_caches_fault(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = []

    def full(_: object, folder: Path) -> None:
        attempts.append(folder)
        raise OSError(errno.ENOSPC, "No space left on device", "cached", None, str(folder / "model.ts.pt"))

    monkeypatch.setattr(exporting, "place", full)
    with pytest.raises(OSError, match="No space left"):
        make(tmp_path / "cache")
    assert len(attempts) == 1
    assert not (tmp_path / "spare").exists()
