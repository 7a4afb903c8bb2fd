"""A golden on disk is whole or refused, whatever happens to it while it is written or after."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parity.errors import GoldenError, StorageError
from parity.golden.files import FACTS, OUTPUTS, PREVIOUS, golden_folder, read_golden
from parity.golden.record import Golden
from parity.golden.recording import check_room, record_golden
from parity.settings import Settings

from . import made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return golden_folder(Settings(root=tmp_path), "net")


def _record(folder: Path, *, seed: int = 0, accept: bool = False) -> Golden:
    bench = made.bench(folder.parent / f"run-{seed}", {"y": made.logits(seed=seed)})
    return record_golden(made.report(bench, made.record()), bench, folder, accept=accept)


def _error(folder: Path) -> GoldenError:
    with pytest.raises(GoldenError) as caught:
        read_golden(folder)
    return caught.value


def test_what_is_written_reads_back_equal(folder: Path) -> None:
    written = _record(folder)
    read = read_golden(folder)
    assert read == written
    assert {key: array.tolist() for key, array in read.tensors.items()} == {
        key: array.tolist() for key, array in written.tensors.items()
    }
    assert sorted(path.name for path in folder.iterdir()) == [FACTS, OUTPUTS]


def test_recording_the_same_again_changes_no_byte(folder: Path) -> None:
    _record(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    _record(folder, accept=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_json_has_sorted_keys_one_value_a_line_and_its_schema(folder: Path) -> None:
    _record(folder)
    text = (folder / FACTS).read_text()
    data = json.loads(text)
    assert text == json.dumps(data, indent=2, sort_keys=True) + "\n"
    assert data["schema"] == "parity-golden/1"
    assert data["latency"] == {"this machine": {made.TARGET: {"8": {"high": 0.71, "low": 0.69, "ratio": 0.7}}}}


def test_a_missing_golden_names_the_command_that_records_it(folder: Path) -> None:
    error = _error(folder)
    assert error.hint == "`parity golden record net`"
    assert "there is no golden of net" in str(error)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("kept", "0", "kept"),
        ("ratios", {"onnx": "1.0"}, "ratios.onnx"),
        ("weights_sha256", None, "weights_sha256"),
        ("kept_digests", [], "20 kept samples with 0 digests"),
        ("surplus", 1, "surplus"),
    ],
)
def test_a_damaged_field_is_located(folder: Path, key: str, value: Any, told: str) -> None:
    _record(folder)
    data = json.loads((folder / FACTS).read_text())
    (folder / FACTS).write_text(json.dumps({**data, key: value}))
    error = _error(folder)
    assert "damaged" in error.what
    assert told in str(error.got)
    assert "parity golden record net" in str(error.hint)


def test_text_that_is_not_json_is_damaged(folder: Path) -> None:
    _record(folder)
    text = (folder / FACTS).read_text()
    (folder / FACTS).write_text(text[: len(text) // 2])
    assert "damaged" in _error(folder).what


def test_another_schema_is_refused_by_its_number(folder: Path) -> None:
    _record(folder)
    text = (folder / FACTS).read_text()
    (folder / FACTS).write_text(text.replace("parity-golden/1", "parity-golden/2"))
    error = _error(folder)
    assert error.allowed == "schema parity-golden/1"
    assert error.got == "schema parity-golden/2"


@pytest.mark.parametrize("cut", [0, 4, 100, -1])
def test_truncated_outputs_are_damaged(folder: Path, cut: int) -> None:
    _record(folder)
    data = (folder / OUTPUTS).read_bytes()
    (folder / OUTPUTS).write_bytes(data[:cut])
    error = _error(folder)
    assert error.where == str(folder / OUTPUTS)
    assert f"{len(data[:cut])} bytes" in str(error.got)


def test_a_flipped_bit_in_the_outputs_is_damage(folder: Path) -> None:
    _record(folder)
    data = bytearray((folder / OUTPUTS).read_bytes())
    data[-1] ^= 1
    (folder / OUTPUTS).write_bytes(data)
    assert "damaged" in _error(folder).what


def test_outputs_that_are_gone_are_damage(folder: Path) -> None:
    _record(folder)
    (folder / OUTPUTS).unlink()
    assert _error(folder).got == "no such file"


@pytest.mark.parametrize("survived", range(4))
def test_a_write_cut_short_leaves_the_old_golden_or_the_new(
    folder: Path, monkeypatch: pytest.MonkeyPatch, survived: int
) -> None:
    """Renaming is the only step that a reader sees; the write dies before each of them in turn."""
    old = _record(folder)
    rename, left = os.replace, survived

    def dying(source: str, target: Path) -> None:
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", dying)
        if survived < 3:
            with pytest.raises(KeyboardInterrupt):
                _record(folder, seed=1, accept=True)
            assert read_golden(folder) == old
        else:
            assert read_golden(folder) == old
            new = _record(folder, seed=1, accept=True)
            assert read_golden(folder) == new != old
    new = _record(folder, seed=2, accept=True)
    assert read_golden(folder) == new
    assert sorted(path.name for path in folder.iterdir()) == [FACTS, OUTPUTS]


def test_two_writes_cut_short_in_a_row_still_leave_the_old_golden(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = _record(folder)
    rename = os.replace

    def dying(source: str, target: Path) -> None:
        if target.name == FACTS:
            raise KeyboardInterrupt
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", dying)
        for seed in (1, 2):
            with pytest.raises(KeyboardInterrupt):
                _record(folder, seed=seed, accept=True)
    assert (folder / PREVIOUS).is_file()
    assert read_golden(folder) == old


def test_a_first_write_cut_short_is_no_golden(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dying(source: str, target: Path) -> None:
        if target.name == FACTS:
            raise KeyboardInterrupt
        Path(source).rename(target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", dying)
        with pytest.raises(KeyboardInterrupt):
            _record(folder)
    assert "there is no golden" in _error(folder).what
    _record(folder)
    assert read_golden(folder).name == "net"


def test_reading_and_comparing_loads_no_torch() -> None:
    code = "import sys, parity.golden.check, parity.golden.recording; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_values_that_are_not_finite_come_back(tmp_path: Path, folder: Path) -> None:
    oracle = [np.array([np.nan, np.inf, -np.inf, 1.0])] * 2
    bench = made.bench(tmp_path, {"y": oracle})
    record_golden(made.report(bench), bench, folder)
    assert np.array_equal(read_golden(folder).tensors["y@0"], np.stack(oracle).astype(np.float32), equal_nan=True)


@pytest.mark.parametrize("name", ["outputs.safetensors", "golden.json"])
def test_a_full_disk_leaves_the_golden_that_is_there(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _record(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    real = os.fsync
    written: list[int] = []

    def full(descriptor: int) -> None:
        written.append(descriptor)
        # An accepted golden writes the outputs under their second name first.
        if len(written) == {"outputs.safetensors": 2, "golden.json": 3}[name]:
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr("parity.golden.files.os.fsync", full)
    with pytest.raises(StorageError, match="the golden cannot be written: the disk is full") as caught:
        _record(folder, seed=1, accept=True)
    assert "--golden DIR" in str(caught.value)
    monkeypatch.undo()
    assert read_golden(folder).name
    assert (folder / "golden.json").read_bytes() == before["golden.json"]
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_first_golden_on_a_full_disk_leaves_no_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("parity.golden.files.os.fsync", full)
    with pytest.raises(StorageError):
        _record(folder)
    assert not folder.exists()


def test_a_folder_that_takes_no_golden_is_refused_before_anything_is_run(tmp_path: Path, folder: Path) -> None:
    check_room(folder)
    assert not folder.exists()
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StorageError, match="the golden cannot be written"):
        check_room(tmp_path / "file" / "net")
