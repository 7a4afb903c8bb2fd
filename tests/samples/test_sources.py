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


def test_names_out_of_a_file_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    with pytest.raises(SampleError) as caught:
        read_samples(saved(tmp_path / "x.npz", **{"\x1b[2Ja": STACKED, "b\n": STACKED}), TWO, tmp_path)
    assert caught.value.got == "\\x1b[2Ja, b\\n"


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


def test_labels_among_other_arrays_have_a_name(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match="no array among these is called labels") as caught:
        read_labels(saved(tmp_path / "y.npz", a=[1], b=[2]), tmp_path)
    assert caught.value.got == "a, b"


def test_what_is_called_labels_beside_samples_has_to_be_some(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match="not a list of integers"):
        rows(saved(tmp_path / "x.npz", x=STACKED, labels=[0.5, 1, 2]), tmp_path)
    assert rows(saved(tmp_path / "x.npz", x=STACKED, y=[0.5, 1, 2]), tmp_path)[1] is None


def test_a_dtype_is_never_changed_and_the_message_says_how_to(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match="another dtype") as caught:
        rows(saved(tmp_path / "x.npy", x=STACKED.astype(np.float64)), tmp_path)
    assert caught.value.hint == (
        "save them as the model takes them, array.astype('float32'), or write --input 'x: float64[N, 2]'"
    )
    assert rows(saved(tmp_path / "x.npy", x=STACKED.astype(">f4")), tmp_path)[0] == STACKED.tolist()


@pytest.mark.parametrize("wrong", [[0.5, 1.0], [[1.5], [2]], [], 3])
def test_what_is_no_list_of_integers_is_no_labels(tmp_path: Path, wrong: object) -> None:
    with pytest.raises(SampleError, match="not a list of integers"):
        read_labels(saved(tmp_path / "y.npy", y=wrong), tmp_path)


def test_labels_that_are_none_say_what_labels_are(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("cat\ndog\n")
    with pytest.raises(SampleError, match=r"labels cannot be read(.|\n)*labels are integers"):
        read_labels("labels.txt", tmp_path)
    for labels, hint in ((np.eye(3, dtype=np.float32), "argmax"), (np.ones(3, np.float32), "astype")):
        np.save(tmp_path / "labels.npy", labels)
        with pytest.raises(SampleError, match=hint):
            read_labels("labels.npy", tmp_path)


@pytest.mark.parametrize("address", ["https://example.com/x.npz", "hf://datasets/x", "s3://bucket/x.npz"])
def test_an_address_is_no_file(tmp_path: Path, address: str) -> None:
    with pytest.raises(SampleError, match="nothing is downloaded"):
        read_samples(address, parse_signature("x: float32[N, 2]"), tmp_path)
