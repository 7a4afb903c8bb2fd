"""Every object that people keep samples in gives the same samples, in order, and its labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from parity.errors import SampleError
from parity.models.signature import parse_signature
from parity.samples import arranging
from parity.samples.sources import infer_inputs, read_samples
from tests.samples import given
from tests.samples.reading import read

ONE = parse_signature("x: float32[N, 3, 2]")
TWO = parse_signature(["a: float32[N, T, 4]", "b: int64[N, T]"])
ROWS, LABELS = given.IMAGES.tolist(), given.CLASSES.tolist()


@pytest.mark.parametrize(
    "name",
    ["WITH_LABELS", "IN_ORDER", "WITH_WORKERS", "ONE_BY_ONE", "Photos", "Streamed", "stacked_pair", "named_pairs"],
)
def test_samples_with_labels(name: str, tmp_path: Path) -> None:
    assert read(f"{given.HERE}:{name}", ONE, tmp_path) == (ROWS, LABELS)


@pytest.mark.parametrize("name", ["generated", "half_precision", "on_the_tape", "with_targets", "IMAGES"])
def test_samples_without_labels(name: str, tmp_path: Path) -> None:
    assert read(f"{given.HERE}:{name}", ONE, tmp_path) == (ROWS, None)


def test_tuples_are_in_the_order_of_the_inputs_and_a_label_may_follow(tmp_path: Path) -> None:
    (plain, none), (labelled, labels) = (
        read(f"{given.HERE}:{name}", TWO, tmp_path) for name in ("two_inputs", "two_inputs_labelled")
    )
    assert [np.shape(each["a"]) for each in plain] == [(3, 4), (7, 4), (5, 4)]
    assert plain == labelled
    assert (none, labels) == (None, [2, 2, 2])


def test_arrays_in_a_list_are_one_for_each_input_where_there_are_several(tmp_path: Path) -> None:
    signature = parse_signature(["a: float32[N, 2]", "b: float32[N, 3]"])
    rows, _ = read(f"{given.HERE}:two_stacked", signature, tmp_path)
    assert rows == [{"a": [0, 0], "b": [1, 1, 1]}] * 4


def test_plain_numbers_take_the_dtype_of_their_input(tmp_path: Path) -> None:
    source = f"{given.HERE}:plain_numbers"
    assert read(source, parse_signature("x: float32[N, 2]"), tmp_path)[0] == [[0, 1.5], [2, 3]]
    assert infer_inputs(source, tmp_path) == ("x: float32[N, 2]",)
    with pytest.raises(SampleError, match="another dtype") as caught:
        read(source, parse_signature("x: int64[N, 2]"), tmp_path)
    assert caught.value.got == "float64[2]"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("SHUFFLED", "another order each time"),
        ("Augmented", "the dataset gives other numbers when it is asked again"),
        ("breaks_off", "the samples raised OSError: the disk is gone"),
        ("some_labelled", "some samples have a label and others none"),
        ("nothing", "does the function end without a return?"),
        ("words", "run the tokenizer first"),
        ("Pictures", "--preprocess"),
        ("two_inputs_labelled", "3 arrays without names"),
    ],
)
def test_what_cannot_be_read_says_why(name: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(SampleError) as caught:
        read(f"{given.HERE}:{name}", ONE, tmp_path)
    assert says in str(caught.value)
    assert given.HERE in str(caught.value)


def test_a_generator_is_asked_for_one_sample_at_a_time(tmp_path: Path) -> None:
    samples, _ = read_samples(f"{given.HERE}:breaks_off", ONE, tmp_path)
    assert next(iter(samples))["x"].tolist() == ROWS[0]


def test_pictures_of_a_dataset_are_prepared(tmp_path: Path) -> None:
    signature = parse_signature("x: float32[N, 3, 3, 4]")
    rows, labels = read(f"{given.HERE}:Pictures", signature, tmp_path, f"{given.HERE}:as_numbers")
    assert [np.max(each) for each in rows] == [0, 1]
    assert labels == [0, 1]


def test_a_picture_that_has_a_name_keeps_it(tmp_path: Path) -> None:
    signature = parse_signature("image: float32[N, 3, 3, 4]")
    rows, labels = read(f"{given.HERE}:NamedPictures", signature, tmp_path, f"{given.HERE}:as_numbers")
    assert (len(rows), labels) == (2, [1, 0])


@pytest.mark.parametrize("source", [f"{given.HERE}:Photos", f"{given.HERE}:IMAGES", "x.npy", "folder"])
def test_preprocessing_of_what_is_no_picture_is_refused(source: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in ("x.npy", "folder/0.npy"):
        np.save(tmp_path / path, given.IMAGES.numpy())
    with pytest.raises(SampleError, match="these samples have none"):
        read(source, ONE, tmp_path, f"{given.HERE}:as_numbers")
    if source != "folder":
        assert read(source, ONE, tmp_path, "")[0] == ROWS


def test_plain_lists_may_differ_in_length(tmp_path: Path) -> None:
    assert read(f"{given.HERE}:ragged", parse_signature("x: int64[N, T]"), tmp_path) == ([[1], [2, 3]], [0, 1])


def test_a_nested_tensor_has_samples_of_different_sizes(tmp_path: Path) -> None:
    assert infer_inputs(f"{given.HERE}:nested", tmp_path) == ("x: float32[N, T in 2..3]",)


def test_no_sample_at_all_is_no_sample(tmp_path: Path) -> None:
    assert read(f"{given.HERE}:empty", ONE, tmp_path) == ([], None)


def test_a_tensor_with_a_gradient_or_in_another_layout_is_read(tmp_path: Path) -> None:
    sparse = torch.eye(3).to_sparse()
    torch.save({"x": sparse}, tmp_path / "x.pt")
    assert read("x.pt", parse_signature("x: float32[N, 3]"), tmp_path)[0] == torch.eye(3).tolist()


def test_an_iterable_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arranging, "MOST", 50)
    (tmp_path / "data.py").write_text(
        "import itertools, numpy as np\n"
        "def some(count): return (np.full(2, index, 'f4') for index in count)\n"
        "def endless(): return some(itertools.count())\n"
        "def ends(): return some(range(50))\n"
        "class Long:\n    def __len__(self): return 60\n"
        "    def __getitem__(self, index): return np.full(2, index, 'f4')\n"
    )
    with pytest.raises(SampleError, match=r"did not end after 50(.|\n)*islice"):
        infer_inputs("data.py:endless", tmp_path)
    for name in ("ends", "Long"):
        assert infer_inputs(f"data.py:{name}", tmp_path) == ("x: float32[N, 2]",)
