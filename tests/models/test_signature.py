from __future__ import annotations

import numpy as np
import pytest

from parity.arrays import Array
from parity.errors import SampleError, UsageError
from parity.models.signature import DTYPES, Dim, parse_input, parse_signature


@pytest.mark.parametrize(
    "text",
    [
        "image: float32[N, 3, 224, 224]",
        "tokens: int64[N, T in 1..128] in 0..30521",
        "lengths: int64[N] in 1..T",
        "image: float32[N, 3, H in 32..256 step 32, W]",
        "offset: int32[N] in -5..5",
        "scalar: float64[]",
        "a.b: complex64[N]",
    ],
)
def test_the_written_form_of_an_input_reads_back_as_itself(text: str) -> None:
    assert str(parse_input(text)) == text


def test_spaces_in_the_written_form_do_not_count() -> None:
    assert parse_input("  x:float32[ N ,3 ]in 0 .. 9 ") == parse_input("x: float32[N, 3] in 0..9")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("image float32[N]", "this input cannot be read"),
        ("image: float32[N", "this input cannot be read"),
        ("", "this input cannot be read"),
        ("image: float31[N]", "did you mean 'float32'"),
        ("image: float32[N, -1]", "the dimension '-1' cannot be read"),
        ("image: float32[N, T in 9..1]", "has no sizes"),
        ("image: float32[N, T step 0]", "has no sizes"),
    ],
)
def test_an_input_that_cannot_be_read_says_what_can(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_input(text)
    assert says in str(caught.value)


def test_a_signature_has_inputs_and_each_name_once() -> None:
    with pytest.raises(UsageError, match="no inputs"):
        parse_signature([])
    with pytest.raises(UsageError, match="two inputs are called 'x'"):
        parse_signature(["x: float32[N]", "x: int64[N]"])
    assert parse_signature("x: float32[N]") == parse_signature(["x: float32[N]"])


@pytest.mark.parametrize(
    ("texts", "batch"),
    [
        (["x: float32[N, 3]"], "N"),
        (["x: float32[N, 3]", "y: int64[N]"], "N"),
        (["x: float32[N, 3]", "y: int64[M]"], None),
        (["x: float32[1, 3]"], None),
        (["x: float32[N, 3]", "y: float32[]"], None),
        (["x: float32[]"], None),
    ],
)
def test_the_batch_is_a_leading_symbol_that_every_input_shares(texts: list[str], batch: str | None) -> None:
    assert parse_signature(texts).batch == batch


def test_a_symbol_keeps_the_bounds_that_it_is_given_anywhere() -> None:
    late = parse_signature(["x: float32[N, T]", "y: float32[N, T in 2..8]"])
    early = parse_signature(["x: float32[N, T in 2..8]", "y: float32[N, T]"])
    assert late.symbols["T"] == early.symbols["T"] == Dim(symbol="T", low=2, high=8)


def test_a_symbol_keeps_its_step_where_a_later_input_writes_it_without() -> None:
    signature = parse_signature(["image: float32[N, 3, H step 32]", "mask: float32[N, 1, H]"])
    assert signature.symbols["H"] == Dim(symbol="H", step=32)


@pytest.mark.parametrize(
    ("dim", "yes", "no"),
    [
        (Dim(size=3), [3], [1, 4]),
        (Dim(symbol="T", low=2, high=5), [2, 5], [1, 6]),
        (Dim(symbol="T"), [1, 10**6], [0]),
        (Dim(symbol="H", low=32, high=96, step=32), [32, 64, 96], [48, 128]),
    ],
)
def test_a_dimension_admits_what_it_was_written_for(dim: Dim, yes: list[int], no: list[int]) -> None:
    assert all(dim.admits(size) for size in yes)
    assert not any(dim.admits(size) for size in no)


SIGNATURE = parse_signature(["image: float32[N, 3, T in 1..8]", "mask: bool[N, T]"])


def sample(**changes: Array) -> dict[str, Array]:
    return {"image": np.zeros((3, 5), np.float32), "mask": np.zeros(5, bool), **changes}


def test_a_sample_that_fits_is_let_through() -> None:
    SIGNATURE.check(sample(), "here")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"image": np.zeros((3, 5))}, "another dtype"),
        ({"image": np.zeros((1, 3, 5), np.float32)}, "another rank"),
        ({"image": np.zeros((4, 5), np.float32)}, "do not fit"),
        ({"image": np.zeros((3, 9), np.float32), "mask": np.zeros(9, bool)}, "do not fit"),
        ({"mask": np.zeros(4, bool)}, "do not fit"),
        ({"mask": np.zeros(5, np.uint8)}, "another dtype"),
    ],
    ids=["dtype", "rank", "size", "bound", "shared symbol", "bool is not uint8"],
)
def test_a_sample_that_does_not_fit_names_the_input_and_what_it_is(changes: dict[str, Array], says: str) -> None:
    with pytest.raises(SampleError) as caught:
        SIGNATURE.check(sample(**changes), "file.npz, sample 3")
    name, array = next(iter(changes.items())) if "image" in changes else ("mask", changes["mask"])
    assert says in caught.value.what
    assert caught.value.where in (f"file.npz, sample 3, input {name!r}", "file.npz, sample 3, input 'mask'")
    assert caught.value.got is not None
    assert caught.value.got.startswith(array.dtype.name)


def test_a_missing_input_is_named_beside_those_that_came() -> None:
    with pytest.raises(SampleError) as caught:
        SIGNATURE.check({"image": np.zeros((3, 5), np.float32)}, "here")
    assert (caught.value.allowed, caught.value.got) == ("image, mask", "image")


def test_without_a_batch_a_sample_is_the_whole_call() -> None:
    parse_signature("x: float32[1, 4]").check({"x": np.zeros((1, 4), np.float32)}, "here")
    with pytest.raises(SampleError):
        parse_signature("x: float32[N, 4]").check({"x": np.zeros((1, 4), np.float32)}, "here")


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_is_the_one_that_numpy_calls_so(name: str) -> None:
    assert np.dtype(DTYPES[name]).name == name


def test_integers_outside_of_their_range_are_refused_and_real_numbers_are_not() -> None:
    signature = parse_signature(["ids: int64[N, T] in 0..49", "length: int64[N] in 1..T", "x: float32[N, T] in 0..1"])
    ids, length, x = np.array([0, 49, 3]), np.int64(3), np.array([0, 2, -1], np.float32)
    signature.check({"ids": ids, "length": np.asarray(length), "x": x}, "held-out")
    with pytest.raises(SampleError) as caught:
        signature.check({"ids": ids + 1, "length": np.asarray(length), "x": x}, "held-out")
    assert (caught.value.where, caught.value.allowed, caught.value.got) == ("held-out, input 'ids'", "0..49", "1..50")
    with pytest.raises(SampleError, match="outside of the range"):
        signature.check({"ids": ids, "length": np.asarray(length + 1), "x": x}, "held-out")


def test_a_range_without_values_is_refused() -> None:
    assert parse_input("x: float32[N] in 0..0").high == "0"
    with pytest.raises(UsageError, match="holds none"):
        parse_input("x: float32[N] in 1..0")
