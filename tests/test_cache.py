from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from parity import cache as cache_module
from parity.artifacts import Manifest, describe_files, write_manifest
from parity.cache import ArtifactCache, cache_folder, cache_key, place
from parity.exporters.export import ExportExporter
from parity.exporters.trace import TraceExporter
from parity.settings import Settings


def fill(folder: Path, content: str = "graph") -> bool:
    (folder / "model").write_text(content)
    (folder / "beside").mkdir()
    (folder / "beside" / "weights").write_text("w")
    write_manifest(folder, Manifest("trace", "torchscript", "float", "model", files=describe_files(folder)))
    return True


def make(cache: ArtifactCache, key: str, content: str = "graph") -> None:
    with cache.locked(key):
        assert cache.make(key, lambda folder: fill(folder, content)) is not None


def test_the_environment_goes_before_the_setting_and_both_start_at_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARITY_CACHE", "from-environment")
    assert cache_folder(Settings(root=tmp_path, cache="from-settings")) == tmp_path / "from-environment"
    monkeypatch.delenv("PARITY_CACHE")
    assert cache_folder(Settings(root=tmp_path, cache="from-settings")) == tmp_path / "from-settings"
    assert cache_folder(Settings(root=tmp_path)).name == "parity"


def test_what_was_made_is_found_again(tmp_path: Path) -> None:
    cache = ArtifactCache(tmp_path / "cache")
    with cache.locked("k"):
        assert cache.find("k") is None
    make(cache, "k")
    found = cache.find("k")
    assert found is not None
    assert found.entry.read_text() == "graph"
    assert cache.find("other") is None


def test_a_damaged_artifact_is_not_found_and_can_be_made_again(tmp_path: Path) -> None:
    cache = ArtifactCache(tmp_path)
    make(cache, "k")
    (tmp_path / "k" / "model").write_text("grapf")
    assert cache.find("k") is None
    make(cache, "k")
    assert cache.find("k") is not None


@pytest.mark.parametrize("how", ["declines", "raises"])
def test_what_was_not_made_leaves_nothing_behind(tmp_path: Path, how: str) -> None:
    cache = ArtifactCache(tmp_path)

    def declines(folder: Path) -> bool:
        (folder / "half").write_text("")
        if how == "raises":
            raise RuntimeError("half way")
        return False

    with cache.locked("k"):
        if how == "raises":
            with pytest.raises(RuntimeError):
                cache.make("k", declines)
        else:
            assert cache.make("k", declines) is None
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_key_is_held_by_one_at_a_time_and_other_keys_are_free(tmp_path: Path) -> None:
    cache = ArtifactCache(tmp_path)
    order: list[str] = []

    def second() -> None:
        with ArtifactCache(tmp_path).locked("k"):
            order.append("second")

    with cache.locked("k"):
        thread = threading.Thread(target=second)
        thread.start()
        with cache.locked("other"):
            time.sleep(0.1)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_the_least_recently_used_artifacts_are_removed_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ArtifactCache(tmp_path)
    for age, key in enumerate(["new", "used", "old"]):
        make(cache, key, "x" * 1000)
        os.utime(tmp_path / key, (1000 - age, 1000 - age))
    assert cache.find("old") is not None
    monkeypatch.setattr(cache_module, "KEPT_BYTES", 3000)
    make(cache, "newest", "x" * 1000)
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"old", "newest"}


def test_an_artifact_that_somebody_copies_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ArtifactCache(tmp_path)
    for age, key in enumerate(["used", "held"]):
        make(cache, key, "x" * 1000)
        os.utime(tmp_path / key, (1000 - age, 1000 - age))
    monkeypatch.setattr(cache_module, "KEPT_BYTES", 2500)
    with cache.locked("held"):
        make(cache, "newest", "x" * 1000)
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"held", "newest"}


def test_what_another_process_removes_meanwhile_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ArtifactCache(tmp_path)
    make(cache, "gone")
    search = Path.rglob

    def removed_meanwhile(path: Path, pattern: str) -> Iterator[Path]:
        if path.name == "gone":
            shutil.rmtree(path)
            raise FileNotFoundError(path)
        return search(path, pattern)

    monkeypatch.setattr(Path, "rglob", removed_meanwhile)
    make(cache, "new")
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"new"}


def test_a_copy_holds_every_file_and_shares_none(tmp_path: Path) -> None:
    cache = ArtifactCache(tmp_path / "cache")
    make(cache, "k")
    found = cache.find("k")
    assert found is not None
    copy = place(found, tmp_path / "out")
    assert (copy.folder / "beside" / "weights").read_text() == "w"
    copy.entry.write_text("changed by its owner")
    assert cache.find("k") is not None


def test_what_runtimes_keep_lies_beside_the_artifacts_one_folder_for_all_and_goes_as_they_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = ArtifactCache(tmp_path / "cache")
    scratch = set()
    for key in ("a", "b"):
        make(cache, key)
        found = cache.find(key)
        assert found is not None
        scratch.add(place(found, tmp_path / "out" / key).scratch)
    (folder,) = scratch
    assert folder is not None
    assert folder.parent == tmp_path / "cache"
    folder.mkdir()
    (folder / "kernel").write_text("x" * 5000)
    monkeypatch.setattr(cache_module, "KEPT_BYTES", 4000)
    os.utime(folder, (1000, 1000))
    make(cache, "c")
    assert not folder.exists()
    assert cache.find("b") is not None


def test_a_key_depends_on_exporter_options_and_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(TraceExporter):
        def options(self) -> Mapping[str, str]:
            return {"freeze": "no"}

    keys = [
        cache_key(TraceExporter(), "weights", "code"), cache_key(TraceExporter(), "weights", "core"),
        cache_key(TraceExporter(), "weightscode"), cache_key(TraceExporter(), "code", "weights"),
        cache_key(ExportExporter(), "weights", "code"), cache_key(Other(), "weights", "code"),
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert cache_key(TraceExporter(), "weights", "code") == keys[0]
    monkeypatch.setattr(cache_module, "versions", lambda: {"torch": "another"})
    assert cache_key(TraceExporter(), "weights", "code") != keys[0]
