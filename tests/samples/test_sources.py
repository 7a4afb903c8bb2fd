from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parity.arrays import Array
from parity.errors import ModelError, SampleError
from parity.models.signature import parse_signature
from parity.samples.rows import GatheredLabels
from parity.samples.sources import read_labels, read_samples
from parity.samples.synthetic import SYNTHETIC_COUNT, synthetic_samples

ONE = parse_signature("x: float32[N, 2]")
TWO = parse_signature(["a: float32[N, 2]", "b: int64[N]"])
HERE = str(Path(__file__).resolve())
STACKED = np.arange(6, dtype=np.float32).reshape(3, 2)


def as_mapping() -> dict[str, Array]:
    return {"x": STACKED}


def as_samples() -> Iterator[dict[str, Array]]:
    return iter([{"x": row} for row in STACKED])


def as_lists() -> dict[str, list[int]]:
    return {"x": [1, 2, 3]}


def raises() -> dict[str, Array]:
    raise FileNotFoundError("data/")


def labels() -> list[int]:
    return [2, 0, 1]


def saved(path: Path, **arrays: Any) -> str:
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        np.save(path, next(iter(arrays.values())))
    return path.name


def rows(source: str, root: Path) -> tuple[list[list[float]], Array | None]:
    samples, labels = read_samples(source, ONE, root)
    found = [sample["x"].tolist() for sample in samples]
    return found, labels.whole() if isinstance(labels, GatheredLabels) else labels


def test_every_way_of_giving_samples_gives_the_same_ones(tmp_path: Path) -> None:
    sources = [
        saved(tmp_path / "x.npz", x=STACKED), saved(tmp_path / "other.npz", images=STACKED),
        saved(tmp_path / "x.npy", x=STACKED), f"{HERE}:as_mapping", f"{HERE}:as_samples",
    ]  # fmt: skip
    for source in sources:
        assert rows(source, tmp_path) == (STACKED.tolist(), None)


def test_labels_lie_beside_the_samples_and_are_no_input(tmp_path: Path) -> None:
    found, beside = rows(saved(tmp_path / "x.npz", x=STACKED, labels=np.asarray([1, 0, 1])), tmp_path)
    assert len(found) == 3
    assert beside is not None
    assert beside.tolist() == [1, 0, 1]


def test_an_input_may_itself_be_called_labels(tmp_path: Path) -> None:
    signature = parse_signature(["x: float32[N, 2]", "labels: int64[N]"])
    source = saved(tmp_path / "x.npz", x=STACKED, labels=np.arange(3))
    samples, beside = read_samples(source, signature, tmp_path)
    assert beside is None
    assert [int(sample["labels"]) for sample in samples] == [0, 1, 2]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("gone.npz", None, "there is no such sample file"),
        ("x.csv", b"1,2", "cannot be read"),
        ("x.npz", b"not a zip", "it is text, not the .npz that its name says"),
        ("x.npy", b"", "is empty"),
        ("x.npz", b"PK\x05\x06" + bytes(18), "an archive of nothing"),
    ],
)
def test_a_file_that_is_no_samples_is_a_sample_error(
    tmp_path: Path, name: str, content: bytes | None, says: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SampleError) as caught:
        read_samples(name, ONE, tmp_path)
    assert says in str(caught.value)
    assert caught.value.where == str(tmp_path / name)


def test_pickled_objects_are_refused_and_never_run(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.asarray([{"run": "me"}], dtype=object))
    with pytest.raises(SampleError, match="no plain arrays"):
        read_samples("x.npz", ONE, tmp_path)


def test_a_missing_input_is_named_with_what_the_file_has(tmp_path: Path) -> None:
    with pytest.raises(SampleError) as caught:
        read_samples(saved(tmp_path / "x.npz", a=STACKED, bb=np.arange(3)), TWO, tmp_path)
    assert (caught.value.got, caught.value.allowed) == ("a, bb", "a, b")


def test_inputs_of_unequal_number_are_refused(tmp_path: Path) -> None:
    samples, _ = read_samples(saved(tmp_path / "x.npz", a=STACKED, b=np.arange(2)), TWO, tmp_path)
    with pytest.raises(SampleError, match="equally many") as caught:
        list(samples)
    assert caught.value.got == "{'a': 3, 'b': 2}"


def test_a_function_that_raises_or_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match="the samples function raised FileNotFoundError: data/"):
        read_samples(f"{HERE}:raises", ONE, tmp_path)
    with pytest.raises(ModelError, match="has no 'as_maping'"):
        read_samples(f"{HERE}:as_maping", ONE, tmp_path)


def test_labels_are_read_from_files_and_functions(tmp_path: Path) -> None:
    sources = [
        saved(tmp_path / "y.npy", y=np.asarray([2, 0, 1], np.uint8)), saved(tmp_path / "y.npz", classes=[2, 0, 1]),
        saved(tmp_path / "both.npz", x=STACKED, labels=[2, 0, 1]), f"{HERE}:labels",
    ]  # fmt: skip
    for source in sources:
        found = read_labels(source, tmp_path)
        assert found.dtype == np.int64
        assert found.tolist() == [2, 0, 1]


@pytest.mark.parametrize("wrong", [[0.5, 1.0], [[1.5], [2]], [], 3])
def test_what_is_no_list_of_integers_is_no_labels(tmp_path: Path, wrong: object) -> None:
    with pytest.raises(SampleError, match="not a list of integers"):
        read_labels(saved(tmp_path / "y.npy", y=wrong), tmp_path)


SIGNATURES = [
    "x: float32[N, 3, T in 1..9]",
    "x: int64[N, T in 4..128 step 4] in 5..7",
    "x: bool[N, 4]",
    "x: complex64[N]",
    "x: uint8[N, H step 32, 2]",
    "x: float32[]",
    "x: int32[3] in -5..-2",
]


@pytest.mark.parametrize("text", SIGNATURES)
def test_synthetic_samples_fit_their_signature(text: str) -> None:
    signature = parse_signature(text)
    samples = list(synthetic_samples(signature))
    assert len(samples) == SYNTHETIC_COUNT
    for index, sample in enumerate(samples):
        signature.check(sample, f"sample {index}")


def test_synthetic_samples_take_several_sizes_of_a_free_dimension_with_both_ends() -> None:
    sizes = {sample["x"].shape[0] for sample in synthetic_samples(parse_signature("x: float32[N, T in 2..30]"))}
    assert {2, 30} <= sizes
    assert len(sizes) > 2


def test_synthetic_integers_stay_within_their_range_and_reach_it() -> None:
    values = {int(v) for s in synthetic_samples(parse_signature("x: int64[N, 8] in 5..7")) for v in s["x"]}
    assert values == {5, 6, 7}


def test_an_integer_bounded_by_a_dimension_stays_within_it() -> None:
    signature = parse_signature(["x: float32[N, T in 1..6]", "n: int64[N] in 1..T"])
    for sample in synthetic_samples(signature):
        assert 1 <= int(sample["n"]) <= sample["x"].shape[0]


def test_synthetic_samples_are_the_same_for_a_seed_and_differ_from_each_other() -> None:
    one, again, other = (list(synthetic_samples(ONE, seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one[3]["x"], again[3]["x"])
    assert not np.array_equal(one[3]["x"], other[3]["x"])
    assert not np.array_equal(one[3]["x"], one[4]["x"])
