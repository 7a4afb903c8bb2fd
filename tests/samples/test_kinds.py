"""What samples cannot be read from says what it is, and what can be read."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from parity.errors import SampleError
from parity.samples.kinds import READABLE, file_kind


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("x.npz", b"", "the sample file is empty"),
        ("x.npz", b"a,b\n1,2\n", "it is text, not the .npz that its name says"),
        ("x.csv", b"a,b\n1,2\n", "cannot be read from this file: it is text"),
        ("x.pt", b"<!DOCTYPE html><html>", "a page of HTML"),
        ("x.npz", b"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull -I x.npz"),
        ("x.bin", bytes(range(32)) * 4, "of unknown kind"),
        ("x.npz", b"PK\x03\x04 and no more", "was cut off"),
        ("x.pt", b"\x7fELF" + bytes(60), "not the .pt that its name says"),
    ],
)
def test_a_file_that_holds_no_samples_says_what_it_is(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SampleError) as caught:
        file_kind(tmp_path / name)
    assert says in str(caught.value)
    assert caught.value.where == str(tmp_path / name)


@pytest.mark.parametrize(
    ("member", "says"),
    [("photos/a.jpg", "unpack it and give the folder"), ("m/data/constants.pkl", "a model, not samples"),
     ("m/archive_format", "a model, not samples")],
)  # fmt: skip
def test_an_archive_without_arrays_says_what_it_is(tmp_path: Path, member: str, says: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(member, b"")
    with pytest.raises(SampleError) as caught:
        file_kind(tmp_path / "x.zip")
    assert says in str(caught.value)


def test_a_typo_is_answered_with_what_is_near_and_what_can_be_read(tmp_path: Path) -> None:
    np.save(tmp_path / "held-out.npy", np.zeros(3))
    with pytest.raises(SampleError, match="no such sample file") as caught:
        file_kind(tmp_path / "held_out.npy")
    assert (caught.value.allowed, caught.value.hint) == (READABLE, "did you mean 'held-out.npy'?")
