"""A folder of arrays is read file by file in natural order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from parity.arrays import Array
from parity.errors import SampleError
from parity.models.signature import parse_signature
from parity.samples.sources import infer_inputs, read_samples
from tests.samples.reading import read

ONE = parse_signature("x: float32[N, 2]")
TWO = parse_signature(["a: float32[N, T]", "b: int64[N]"])


def numbered(index: int) -> Array:
    return np.full(2, index, np.float32)


def save(path: Path, **arrays: Array) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    only = next(iter(arrays.values()))
    if path.suffix == ".npy":
        np.save(path, only)
    elif path.suffix == ".npz":
        np.savez(path, **arrays)  # type: ignore[arg-type]  # numpy takes the keywords for its own
    elif path.suffix == ".safetensors":
        save_file(dict(arrays), path)
    else:
        torch.save({name: torch.from_numpy(array) for name, array in arrays.items()}, path)


@pytest.mark.parametrize("suffix", ["npy", "npz", "pt", "safetensors"])
def test_two_comes_before_ten(tmp_path: Path, suffix: str) -> None:
    for index in (10, 2, 1):
        save(tmp_path / "d" / f"s{index}.{suffix}", x=numbered(index))
    (tmp_path / "d" / "README.txt").write_text("three samples")
    (tmp_path / "d" / ".hidden.npy").write_bytes(b"")
    assert read("d", ONE, tmp_path) == ([[1, 1], [2, 2], [10, 10]], None)


def test_only_the_file_of_the_sample_that_is_asked_for_is_opened(tmp_path: Path) -> None:
    save(tmp_path / "d" / "0.npy", x=numbered(0))
    for index in range(1, 4):
        (tmp_path / "d" / f"{index}.npy").write_bytes(b"nothing that could be read")
    samples = iter(read_samples("d", ONE, tmp_path)[0])
    assert next(samples)["x"].tolist() == [0, 0]
    with pytest.raises(SampleError) as caught:
        next(samples)
    assert caught.value.where == str(tmp_path / "d" / "1.npy")


def test_a_file_has_every_input_and_may_have_a_label(tmp_path: Path) -> None:
    for index, length in enumerate((3, 5)):
        save(tmp_path / "d" / f"{index}.npz", b=np.asarray(index), a=np.zeros(length, np.float32), y=np.asarray(7))
    rows, labels = read("d", TWO, tmp_path)
    assert [(len(each["a"]), each["b"]) for each in rows] == [(3, 0), (5, 1)]
    assert labels == [7, 7]
    assert infer_inputs("d", tmp_path) == ("b: int64[N] in 0..1", "a: float32[N, T in 3..5]")


@pytest.mark.parametrize("name", ["labels.npy", "y.npz", "target.pt"])
def test_labels_of_all_samples_may_lie_beside_them(tmp_path: Path, name: str) -> None:
    for index in range(3):
        save(tmp_path / "d" / f"{index}.npy", x=numbered(index))
    save(tmp_path / "d" / name, labels=np.asarray([2, 0, 1]))
    assert read("d", ONE, tmp_path) == ([[0, 0], [1, 1], [2, 2]], [2, 0, 1])
    save(tmp_path / "d" / name, labels=np.asarray([0.5, 0, 1]))
    with pytest.raises(SampleError, match="not a list of integers"):
        read("d", ONE, tmp_path)


def test_a_subfolder_holds_one_input(tmp_path: Path) -> None:
    for index in (9, 10):
        save(tmp_path / "d" / "a" / f"{index}.npy", a=np.full(3, index, np.float32))
        save(tmp_path / "d" / "b" / f"{index}.pt", b=np.asarray(index))
    assert read("d", TWO, tmp_path)[0] == [{"a": [9, 9, 9], "b": 9}, {"a": [10, 10, 10], "b": 10}]


def test_a_sample_that_a_subfolder_lacks_is_named(tmp_path: Path) -> None:
    for index in range(3):
        save(tmp_path / "d" / "a" / f"{index}.npy", a=np.zeros(3, np.float32))
        if index != 1:
            save(tmp_path / "d" / "b" / f"{index}.npy", b=np.asarray(index))
    with pytest.raises(SampleError, match="a/ has a sample '1' that b/ lacks"):
        read("d", TWO, tmp_path)


def test_arrays_beside_pictures_are_refused(tmp_path: Path) -> None:
    save(tmp_path / "d" / "0.npy", x=numbered(0))
    (tmp_path / "d" / "1.png").write_bytes(b"")
    with pytest.raises(SampleError, match="a sample is one file") as caught:
        read("d", ONE, tmp_path)
    assert caught.value.got == "1 arrays, 1 pictures"


@pytest.mark.parametrize(("names", "got"), [((), "an empty folder"), (("a.csv", "b.csv"), "2 .csv")])
def test_a_folder_without_samples_says_what_it_has(tmp_path: Path, names: tuple[str, ...], got: str) -> None:
    (tmp_path / "d").mkdir()
    for name in names:
        (tmp_path / "d" / name).write_text("1,2")
    with pytest.raises(SampleError, match="no sample in this folder") as caught:
        read("d", ONE, tmp_path)
    assert caught.value.got == got


def test_a_sample_with_a_batch_axis_is_told_that_it_needs_none(tmp_path: Path) -> None:
    save(tmp_path / "d" / "0.npy", x=numbered(0)[None])
    with pytest.raises(SampleError, match="another rank") as caught:
        read("d", ONE, tmp_path)
    assert "no batch axis" in str(caught.value.hint)
    assert str(tmp_path / "d" / "0.npy") in str(caught.value.where)
