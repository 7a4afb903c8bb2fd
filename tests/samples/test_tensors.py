"""Tensors from `.pt` and `.safetensors` files, mapped or read in slices; a pickle that would run code never runs."""

from __future__ import annotations

import os
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from parity.errors import SampleError
from parity.models.signature import parse_signature
from parity.samples.sources import read_labels
from tests.samples.reading import read

ONE = parse_signature("x: float32[N, 2]")
TWO = parse_signature(["a: float32[N, 2]", "b: int64[N]"])
X, Y = torch.arange(6, dtype=torch.float32).reshape(3, 2), torch.tensor([2, 0, 1])
ROWS, LABELS = X.tolist(), Y.tolist()

HELD: dict[str, tuple[Any, Any]] = {
    "a stacked tensor": (X, None),
    "named": ({"x": X}, None),
    "named otherwise, with labels": ({"images": X, "labels": Y}, LABELS),
    "labels in a list": ({"x": X, "y": [2, 0, 1]}, LABELS),
    "NumPy arrays": ({"x": X.numpy(), "y": Y.numpy(), "classes": ["cat", "dog", "cow"]}, LABELS),
    "lists of tensors": ({"x": list(X), "y": list(Y)}, LABELS),
    "inputs and labels": ((X, Y), LABELS),
    "a list of samples": (list(X), None),
    "a tuple of samples": (tuple(X), None),
    "a list of dictionaries": ([{"x": row, "label": y} for row, y in zip(X, Y, strict=True)], LABELS),
    "a list of pairs": ([(row, int(y)) for row, y in zip(X, Y, strict=True)], LABELS),
}


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("name", HELD)
def test_every_form_of_a_tensor_file(name: str, tmp_path: Path, *, legacy: bool) -> None:
    held, labels = HELD[name]
    torch.save(held, tmp_path / "x.pt", _use_new_zipfile_serialization=not legacy)
    assert read("x.pt", ONE, tmp_path) == (ROWS, labels)


def test_arrays_of_a_safetensors_file_are_read_in_slices(tmp_path: Path) -> None:
    save_file({"b": Y.numpy(), "a": X.numpy()}, tmp_path / "x.safetensors")
    rows, labels = read("x.safetensors", TWO, tmp_path)
    assert rows == [{"a": row, "b": y} for row, y in zip(ROWS, LABELS, strict=True)]
    assert labels is None


def test_bfloat16_is_read_as_the_float32_that_holds_it(tmp_path: Path) -> None:
    from safetensors.torch import save_file as save_tensors

    save_tensors({"x": X.to(torch.bfloat16)}, tmp_path / "x.safetensors")
    assert read("x.safetensors", ONE, tmp_path)[0] == ROWS


def test_the_suffix_is_a_promise_that_the_content_need_not_keep(tmp_path: Path) -> None:
    torch.save(X, tmp_path / "x.npz")
    np.save(tmp_path / "y.npy", X.numpy())
    (tmp_path / "y.npy").rename(tmp_path / "y.pt")
    assert read("x.npz", ONE, tmp_path)[0] == read("y.pt", ONE, tmp_path)[0] == ROWS


def test_labels_from_tensors(tmp_path: Path) -> None:
    torch.save(Y, tmp_path / "y.pt")
    save_file({"x": X.numpy(), "target": Y.numpy()}, tmp_path / "y.safetensors")
    assert read_labels("y.pt", tmp_path).tolist() == read_labels("y.safetensors", tmp_path).tolist() == LABELS


class Runs:
    def __reduce__(self) -> Any:
        return os.mkdir, ("ran",)


@pytest.mark.parametrize("how", ["torch", "pickle"])
def test_a_pickle_that_would_run_code_is_refused_and_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.pt").write_bytes(pickle.dumps(Runs())) if how == "pickle" else torch.save(Runs(), tmp_path / "x.pt")
    with pytest.raises(SampleError, match="would run code of its own"):
        read("x.pt", ONE, tmp_path)
    assert not (tmp_path / "ran").exists()


def test_an_array_of_objects_is_refused_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save({"x": np.asarray([Runs()], dtype=object)}, tmp_path / "x.pt")
    with pytest.raises(SampleError, match="would run code of its own"):
        read("x.pt", ONE, tmp_path)
    assert not (tmp_path / "ran").exists()


def test_lists_in_a_dictionary_may_have_samples_of_different_sizes(tmp_path: Path) -> None:
    torch.save({"x": [torch.zeros(n) for n in (2, 5)], "label": [1, 0]}, tmp_path / "x.pt")
    rows, labels = read("x.pt", parse_signature("x: float32[N, T]"), tmp_path)
    assert (rows, labels) == ([[0] * 2, [0] * 5], [1, 0])


def test_a_state_dict_is_told_from_samples(tmp_path: Path) -> None:
    torch.save(OrderedDict(torch.nn.Linear(2, 3).state_dict(prefix="fc.")), tmp_path / "x.pt")
    with pytest.raises(SampleError, match="no input 'x'") as caught:
        read("x.pt", ONE, tmp_path)
    assert "weights of a model" in str(caught.value.hint)


def test_a_torchscript_archive_is_a_model(tmp_path: Path) -> None:
    torch.jit.save(torch.jit.trace(torch.nn.Linear(2, 3), X), tmp_path / "x.pt")
    with pytest.raises(SampleError, match="a model, not samples"):
        read("x.pt", ONE, tmp_path)


@pytest.mark.parametrize("legacy", [False, True])
def test_bytes_that_were_changed_raise_nothing_but_a_sample_error(tmp_path: Path, *, legacy: bool) -> None:
    path = tmp_path / "x.pt"
    torch.save({"x": X}, path, _use_new_zipfile_serialization=not legacy)
    content = path.read_bytes()
    refused = 0
    for place in range(0, len(content), 9):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x5A]) + content[place + 1 :])
        try:
            read("x.pt", ONE, tmp_path)
        except SampleError:
            refused += 1
    assert refused


@pytest.mark.parametrize("suffix", ["pt", "safetensors"])
@pytest.mark.parametrize("part", [0.2, 0.9])
def test_a_file_that_was_cut_off_is_a_sample_error(tmp_path: Path, suffix: str, part: float) -> None:
    path = tmp_path / f"x.{suffix}"
    if suffix == "pt":
        torch.save({"x": torch.zeros(500, 2)}, path)
    else:
        save_file({"x": np.zeros((500, 2), np.float32)}, path)
    path.write_bytes(path.read_bytes()[: int(part * path.stat().st_size)])
    with pytest.raises(SampleError) as caught:
        read(path.name, ONE, tmp_path)
    assert caught.value.where == str(path)
