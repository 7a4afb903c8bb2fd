from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from parity.arrays import BFLOAT16, Array, ArrayReader, ArrayWriter, digest, dtype_name, dtype_of

RNG = np.random.default_rng(7)

ARRAYS: dict[str, Array] = {
    "float16": RNG.standard_normal((3, 5)).astype(np.float16),
    "bfloat16": np.asarray([1.5, 3e38], BFLOAT16),
    "float64": RNG.standard_normal((2, 3, 4)),
    "bool": np.asarray([True, False, True]),
    "int8": np.arange(-3, 4, dtype=np.int8),
    "uint64": np.asarray([2**64 - 1], np.uint64),
    "complex64": (RNG.standard_normal(4) + 1j * RNG.standard_normal(4)).astype(np.complex64),
    "0-d": np.asarray(2.5, np.float32),
    "empty": np.zeros((0, 7), np.float32),
    "negative stride": np.arange(10, dtype=np.int32)[::-2],
    "transposed": RNG.standard_normal((4, 6)).T,
    "big endian": np.arange(5, dtype=">i4"),
    "nan": np.asarray([np.nan, np.inf, -0.0], np.float32),
}


def write(folder: Path, arrays: dict[str, Array]) -> ArrayReader:
    with ArrayWriter(folder, "held") as writer:
        writer.put_all("call", arrays)
    return ArrayReader(folder, "held")


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_comes_back_bit_for_bit(tmp_path: Path, name: str) -> None:
    array = ARRAYS[name]
    back = write(tmp_path, {name: array}).get(f"call/{name}")
    assert (back.dtype, dtype_name(back), back.shape) == (array.dtype, dtype_name(array), array.shape)
    assert back.tobytes() == array.tobytes()


def test_arrays_of_every_kind_follow_each_other_in_one_file(tmp_path: Path) -> None:
    reader = write(tmp_path, {**ARRAYS, "last, empty": np.zeros(0)})
    back = reader.get_all("call")
    assert list(back) == [*ARRAYS, "last, empty"]
    assert all(back[name].tobytes() == array.tobytes() for name, array in ARRAYS.items())


def test_a_file_of_empty_arrays_alone_can_be_read(tmp_path: Path) -> None:
    assert write(tmp_path, {"empty": np.zeros((2, 0))}).get("call/empty").shape == (2, 0)


def test_random_shapes_and_dtypes_survive(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    made: dict[str, Array] = {}
    for number in range(60):
        shape = tuple(rng.integers(0, 4, rng.integers(0, 4)).tolist())
        dtype = rng.choice(["<f4", "<f8", "|b1", "|u1", "<i8", "<c16", "<f2"])
        made[str(number)] = (rng.standard_normal(shape) * 100).astype(np.float64).astype(dtype)
    reader = write(tmp_path, made)
    assert all(digest(reader.get(f"call/{name}")) == digest(array) for name, array in made.items())


def test_what_is_read_cannot_be_written_to(tmp_path: Path) -> None:
    back = write(tmp_path, {"x": np.ones(3)}).get("call/x")
    with pytest.raises(ValueError, match="read-only"):
        back[0] = 2


def test_a_key_is_written_once(tmp_path: Path) -> None:
    with ArrayWriter(tmp_path, "held") as writer:
        writer.put("x", np.ones(3))
        with pytest.raises(KeyError, match="already written"):
            writer.put("x", np.ones(3))


def test_python_objects_are_refused(tmp_path: Path) -> None:
    with ArrayWriter(tmp_path, "held") as writer, pytest.raises(TypeError, match="Python objects"):
        writer.put("x", np.asarray([{}, None], dtype=object))


def test_an_unknown_key_is_absent_and_raises(tmp_path: Path) -> None:
    reader = write(tmp_path, {"x": np.ones(3)})
    assert "call/x" in reader
    assert "call/y" not in reader
    assert reader.get_all("other") == {}
    with pytest.raises(KeyError):
        reader.get("call/y")


def test_the_index_is_written_last(tmp_path: Path) -> None:
    writer = ArrayWriter(tmp_path, "held")
    writer.put("x", np.ones(3, np.float32))
    assert not (tmp_path / "held.json").exists()
    writer.close()
    assert json.loads((tmp_path / "held.json").read_text())["kinds"] == [["<f4", [3]]]
    assert ArrayReader(tmp_path, "held").get("x").tolist() == [1, 1, 1]


def test_keys_are_found_among_many_of_any_length_and_script(tmp_path: Path) -> None:
    names = ["a", "a/b", "a.b", "a0", "größe", "ö" * 40, "9", "10", "z" * 60]
    prefixes = [f"h{number}" for number in range(40)] + ["h1~2", "s8", "s", "größe"]
    with ArrayWriter(tmp_path, "held") as writer:
        for number, prefix in enumerate(prefixes):
            writer.put_all(prefix, {name: np.asarray([number, place]) for place, name in enumerate(names)})
    reader = ArrayReader(tmp_path, "held")
    for number, prefix in enumerate(prefixes):
        found = reader.get_all(prefix)
        assert [each.tolist() for each in found.values()] == [[number, place] for place in range(len(names))]
        assert list(found) == names
    for absent in ("h", "h1~", "h4", "h99/a", "h1/a1", "h1/" + "z" * 61, "h1/" + "ö" * 39, ""):
        assert (absent in reader) is False
    assert list(reader.get_all("h1/a")) == ["b"]
    assert reader.get_all("h100") == {} == reader.get_all("h1/" + "z" * 60)


def test_a_writer_without_arrays_is_read_as_empty(tmp_path: Path) -> None:
    ArrayWriter(tmp_path, "held").close()
    reader = ArrayReader(tmp_path, "held")
    assert "x" not in reader
    assert reader.get_all("x") == {}


def test_keys_cost_a_reader_no_memory(tmp_path: Path) -> None:
    def read(count: int) -> int:
        with ArrayWriter(tmp_path, str(count)) as writer:
            for number in range(count):
                writer.put(f"{number}/x", np.asarray(number))
        tracemalloc.start()
        try:
            reader = ArrayReader(tmp_path, str(count))
            assert all(int(reader.get(f"{number}/x")) == number for number in range(count))
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    few, many = read(100), read(4000)
    assert many < few + 10_000


def test_a_writer_that_was_interrupted_leaves_nothing_that_looks_whole(tmp_path: Path) -> None:
    def interrupted() -> None:
        with ArrayWriter(tmp_path, "held") as writer:
            writer.put("x", np.ones(3))
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        interrupted()
    assert not (tmp_path / "held.json").exists()


def test_a_digest_tells_dtype_shape_and_values_apart() -> None:
    zeros = np.zeros((2, 3), np.float32)
    others = [zeros.reshape(3, 2), zeros.astype(np.int32), zeros + np.float32(1e-30), -zeros]
    assert len({digest(each) for each in (zeros, *others)}) == 5
    assert digest(zeros) == digest(zeros.copy(order="F"))


def test_a_dtype_is_found_again_by_its_name() -> None:
    for name in ("bfloat16", "float32", "int64", "complex64"):
        assert dtype_name(np.zeros(1, dtype_of(name))) == name
    assert dtype_of("bfloat16") == np.float32, "arithmetic is that of float32"
