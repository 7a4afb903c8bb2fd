"""What kind of sample file lies somewhere, from its content: a suffix is a promise that is often broken."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from parity.errors import SampleError, did_you_mean
from parity.models.wording import printable

READABLE = (
    ".npz, .npy, .pt or .pth (tensors), .safetensors, JSON lines, a folder of such arrays, a folder of images with "
    "--preprocess, or package.module:function"
)
"""What samples can be read from, for messages."""

NPY, NPZ, TENSORS, SAFETENSORS, LINES, IMAGE = "npy", "npz", "tensors", "safetensors", "lines", "image"

_HEAD = 4096
_PICTURES = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"BM", b"II*\x00", b"MM\x00*")
_LINES = (".jsonl", ".ndjson", ".json")
_LENGTH = 8
"""Bytes before the header of a safetensors file, which say how long it is."""


def file_kind(path: Path) -> str:
    """One of the constants above.

    Raises:
        SampleError: there is no such file, it is empty, or nothing that samples are read from.
    """
    if not path.is_file():
        near = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, near) if near else "check the path, or leave it out"
        raise SampleError("there is no such sample file", where=str(path), allowed=READABLE, hint=hint)
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        raise SampleError(f"the sample file cannot be read: {error.strerror}", where=str(path)) from error
    if not head:
        raise SampleError("the sample file is empty", where=str(path), allowed=READABLE)
    if head.startswith(b"\x93NUMPY"):
        return NPY
    if head.startswith(b"PK"):
        return _archive_kind(path)
    if head.startswith(_PICTURES) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP"):
        return IMAGE
    if head[_LENGTH : _LENGTH + 1] == b"{" and int.from_bytes(head[:_LENGTH], "little") < path.stat().st_size:
        return SAFETENSORS
    if head.startswith(b"\x80") and path.suffix not in (".npy", ".npz"):
        return TENSORS
    return _text_kind(path, head)


def _archive_kind(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise SampleError(
            f"the sample file is damaged, or was cut off: {error}", where=str(path), hint="copy or save it again"
        ) from error
    if any(name.endswith(".npy") for name in names):
        return NPZ
    if any(name.endswith(("/constants.pkl", "/archive_format", "/models/model.json")) for name in names):
        raise SampleError("this file is a model, not samples", where=str(path), allowed=READABLE)
    if any(name.endswith("data.pkl") for name in names):
        return TENSORS
    inside = ", ".join(map(printable, names[:3])) + (", ..." if len(names) > 3 else "")  # noqa: PLR2004  # as many as a line holds
    raise SampleError(
        "this archive holds no arrays", where=str(path), allowed=READABLE, got=inside or "an archive of nothing",
        hint="unpack it and give the folder",
    )  # fmt: skip


def _text_kind(path: Path, head: bytes) -> str:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"version https://git-lfs"):
        raise SampleError(
            "this is a pointer of git-lfs, not the file itself", where=str(path), hint=f"git lfs pull -I {path.name}"
        )
    if path.suffix in _LINES or _is_json(start):
        return LINES
    text = b"\x00" not in head and sum(byte < 9 for byte in head) == 0  # noqa: PLR2004  # no control characters
    claimed = f", not the {path.suffix} that its name says" if path.suffix in (".npz", ".npy", ".pt", ".pth") else ""
    what = "a page of HTML" if start[:9].lower() in (b"<!doctype", b"<html") else "text" if text else "of unknown kind"
    raise SampleError(
        f"samples cannot be read from this file: it is {what}{claimed}", where=str(path), allowed=READABLE,
        got=path.suffix or "no suffix", hint="or read it in a function, and give package.module:function",
    )  # fmt: skip


def _is_json(start: bytes) -> bool:
    line = start.splitlines()[0] if start else b""
    if line[:1] in (b"{", b"["):
        return True
    try:
        return isinstance(json.loads(line), int | float)
    except ValueError:
        return False
