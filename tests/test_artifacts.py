from __future__ import annotations

import json
from pathlib import Path

import pytest

from parity.artifacts import MANIFEST, Manifest, describe_files, read_artifact, write_manifest


def make(folder: Path) -> Manifest:
    (folder / "model.onnx").write_bytes(b"graph")
    (folder / "weights").mkdir()
    (folder / "weights" / "model.data").write_bytes(b"numbers")
    manifest = Manifest("onnx", "onnx", "float", "model.onnx", ("y",), 1.5, describe_files(folder), ("a note",))
    write_manifest(folder, manifest)
    return manifest


def test_an_artifact_reads_back_as_it_was_written(tmp_path: Path) -> None:
    manifest = make(tmp_path)
    artifact = read_artifact(tmp_path)
    assert artifact is not None
    assert artifact.manifest == manifest
    assert artifact.entry == tmp_path / "model.onnx"
    assert manifest.bytes == len(b"graph") + len(b"numbers")


@pytest.mark.parametrize("name", ["model.onnx", "weights/model.data"])
def test_one_changed_byte_in_any_file_unmakes_it(tmp_path: Path, name: str) -> None:
    make(tmp_path)
    content = bytearray((tmp_path / name).read_bytes())
    content[0] ^= 1
    (tmp_path / name).write_bytes(content)
    assert read_artifact(tmp_path) is None


def test_a_lost_or_an_added_file_unmakes_it(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / "more").write_text("")
    assert read_artifact(tmp_path) is None
    (tmp_path / "more").unlink()
    assert read_artifact(tmp_path) is not None
    (tmp_path / "weights" / "model.data").unlink()
    assert read_artifact(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", json.dumps({"files": {}, "outputs": [], "notes": [], "odd": 1})])
def test_a_damaged_manifest_is_no_artifact(tmp_path: Path, text: str) -> None:
    make(tmp_path)
    (tmp_path / MANIFEST).write_text(text)
    assert read_artifact(tmp_path) is None


def test_a_folder_without_manifest_is_no_artifact(tmp_path: Path) -> None:
    assert read_artifact(tmp_path) is None
    assert read_artifact(tmp_path / "missing") is None


def test_the_digest_covers_names_and_contents_and_not_how_long_it_took() -> None:
    def digest(seconds: float = 0.0, **files: tuple[str, int]) -> str:
        return Manifest("onnx", "onnx", "float", "a", seconds=seconds, files=files).sha256

    assert digest(1.0, a=("1", 1), b=("2", 1)) == digest(2.0, b=("2", 1), a=("1", 1))
    assert digest(a=("1", 1), b=("2", 1)) != digest(a=("2", 1), b=("1", 1))
    assert digest(a=("1", 1)) != digest(b=("1", 1))


def test_manifest_and_log_are_no_part_of_what_is_described(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / "export.log").write_text("pages of it")
    assert sorted(describe_files(tmp_path)) == ["model.onnx", "weights/model.data"]
    assert list(describe_files(tmp_path, only=("model.onnx",))) == ["model.onnx"]
