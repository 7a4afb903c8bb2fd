"""Arrays in files are read row by row, and a damaged file is told of, wherever the damage is."""

from __future__ import annotations

import itertools
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parity.arrays import Array
from parity.errors import SampleError
from parity.models.signature import parse_signature
from parity.samples.files import open_arrays
from parity.samples.sources import read_samples
from parity.samples.store import StoredSamples, write_samples

RNG = np.random.default_rng(4)

ARRAYS: dict[str, Array] = {
    "float32": RNG.standard_normal((5, 3, 2)).astype(np.float32),
    "one axis": np.arange(4, dtype=np.int64),
    "big endian": np.arange(6, dtype=">i2").reshape(3, 2),
    "fortran": np.asfortranarray(RNG.standard_normal((4, 3))),
    "rows of nothing": np.zeros((3, 0)),
    "no rows": np.zeros((0, 3)),
    "bool": np.asarray([[True, False]]),
}


def write(path: Path, *, compressed: bool = False, **arrays: Any) -> Path:
    if path.suffix == ".npy":
        np.save(path, next(iter(arrays.values())))
    else:
        (np.savez_compressed if compressed else np.savez)(path, **arrays)
    return path


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(("suffix", "compressed"), [("npz", False), ("npz", True), ("npy", False)])
def test_rows_are_those_of_the_array(tmp_path: Path, name: str, suffix: str, *, compressed: bool) -> None:
    array = ARRAYS[name]
    (found,) = open_arrays(write(tmp_path / f"x.{suffix}", compressed=compressed, x=array)).values()
    rows = list(found)
    assert (len(found), found.shape, found.dtype) == (len(array), array.shape, array.dtype)
    assert [(row.dtype, row.shape, row.tolist()) for row in rows] == [
        (row.dtype, row.shape, row.tolist()) for row in map(np.asarray, array)
    ]
    np.testing.assert_array_equal(found.whole(), array)


@pytest.mark.parametrize("suffix", ["npz", "npy"])
def test_a_number_alone_has_no_rows(tmp_path: Path, suffix: str) -> None:
    (found,) = open_arrays(write(tmp_path / f"x.{suffix}", x=np.asarray(3.0))).values()
    assert list(found) == []


def test_what_lies_beside_the_arrays_of_an_archive_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "x.npz", x=np.arange(3))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("README.txt", "three numbers")
    assert list(open_arrays(path)) == ["x"]


def spoil(path: Path, place: int, data: bytes = b"\xff\x00\xff") -> None:
    content = bytearray(path.read_bytes())
    content[place : place + len(data)] = bytes(each ^ 0x55 for each in content[place : place + len(data)])
    path.write_bytes(content)


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("part", [0.3, 0.5, 0.8])
def test_damage_in_the_middle_is_a_sample_error(tmp_path: Path, part: float, *, compressed: bool) -> None:
    path = write(tmp_path / "x.npz", compressed=compressed, x=RNG.standard_normal((50, 200)).astype(np.float32))
    signature = parse_signature("x: float32[N, 200]")
    samples, _ = read_samples("x.npz", signature, tmp_path)
    assert len(list(samples)) == 50
    spoil(path, int(part * path.stat().st_size))
    with pytest.raises(SampleError, match="damaged") as caught:
        write_samples(tmp_path / "out", read_samples("x.npz", signature, tmp_path)[0], signature, None, "here")
    assert caught.value.where == str(path)
    assert not (tmp_path / "out" / "samples.json").exists()


@pytest.mark.parametrize("suffix", ["npz", "npy"])
@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99])
def test_a_file_that_was_cut_off_is_a_sample_error(tmp_path: Path, suffix: str, kept: float) -> None:
    path = write(tmp_path / f"x.{suffix}", x=RNG.standard_normal((50, 200)))
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    with pytest.raises(SampleError, match="damaged"):
        open_arrays(path)


def test_a_member_that_ends_before_its_header_says_is_a_sample_error(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.npz", x=np.ones((5, 4)))
    with zipfile.ZipFile(whole) as archive:
        content = archive.read("x.npy")
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("x.npy", content[:-40])
    with pytest.raises(SampleError, match="ends within sample 3 of 5"):
        list(open_arrays(tmp_path / "x.npz")["x"])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"no array at all", "magic"),
        (b"\x93NUMPY\x09\x00" + bytes(200), "version"),
        (b"\x93NUMPY\x01\x00", "EOF"),
        (b"\x93NUMPY\x01\x00\x09\x00{'descr': ", "damaged"),
        (b"\x93NUMPY\x01\x00\x04\x00{)} ", "damaged"),
    ],
)
def test_a_member_that_is_no_array_is_a_sample_error(tmp_path: Path, content: bytes, says: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("x.npy", content)
    with pytest.raises(SampleError, match=says):
        open_arrays(tmp_path / "x.npz")


def test_an_encrypted_member_is_a_sample_error(tmp_path: Path) -> None:
    path = write(tmp_path / "x.npz", x=np.arange(3))
    content = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + flags] |= 1
    path.write_bytes(content)
    with pytest.raises(SampleError, match="encrypted"):
        open_arrays(path)


@pytest.mark.parametrize(("name", "compressed"), [("x.npz", True), ("x.npz", False), ("x.npy", False)])
def test_memory_does_not_grow_with_the_number_of_samples(tmp_path: Path, name: str, *, compressed: bool) -> None:
    """Reading, checking, digesting, writing and stacking: what stays of a sample is a line in an index."""
    signature = parse_signature("x: float32[N, 1000]")

    def peak(count: int) -> int:
        folder = tmp_path / str(count)
        folder.mkdir()
        write(folder / name, compressed=compressed, x=RNG.standard_normal((count, 1000)).astype(np.float32))
        tracemalloc.start()
        try:
            samples, _ = read_samples(name, signature, folder)
            write_samples(folder, samples, signature, None, "here")
            stored = StoredSamples(folder, signature)
            for start in range(0, count, 8):
                stored.batch(range(start, min(start + 8, count)))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few, many = peak(200), peak(2000)
    assert many - few < 1800 * 400  # bytes; a sample has 4000
    assert many < 2000 * 1000


def test_several_inputs_are_read_side_by_side(tmp_path: Path) -> None:
    signature = parse_signature(["a: float32[N, 2]", "b: int64[N]"])
    write(tmp_path / "x.npz", compressed=True, b=np.arange(70), a=np.arange(140, dtype=np.float32).reshape(70, 2))
    samples, _ = read_samples("x.npz", signature, tmp_path)
    first = list(itertools.islice(samples, 3))
    assert [(each["a"].tolist(), int(each["b"])) for each in first] == [([0, 1], 0), ([2, 3], 1), ([4, 5], 2)]
