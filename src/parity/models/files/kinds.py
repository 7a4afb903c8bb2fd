"""What a model file is, from its content whatever it is called, without loading torch."""

from __future__ import annotations

import json
import struct
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from parity.errors import ModelError
from parity.models.files.foreign import foreign_archive, foreign_file, foreign_folder, foreign_pickle, foreign_tar
from parity.models.files.protobuf import is_onnx
from parity.models.wording import address_hint, typed

TORCHSCRIPT = "a TorchScript archive"
EXPORTED_PROGRAM = "an ExportedProgram"
CHECKPOINT = "a checkpoint"
SAFETENSORS = "a safetensors file"
ONNX = "an ONNX file"

HEAD = 4096
"""Bytes that are looked at to tell what a file is: the signatures and the title of a web page lie within."""

ZIP = b"PK"
"""How a zip archive begins, an empty one as well."""

_PICKLE = b"\x80"
_TAR, _TAR_AT = b"ustar", 257
OLDEST_NAMES = frozenset({"sys_info", "pickle", "storages", "tensors"})
"""What torch 0.1 saved, as the members of a tar archive."""

_JOBLIB, _JOBLIB_WITHIN = b"joblib.numpy_pickle", 1 << 20
"""What joblib calls its arrays, and the bytes in which the first of them is looked for."""

_SAFETENSORS_HEADER = struct.Struct("<Q")
_LONGEST_HEADER = 100_000_000
"""The longest header that safetensors itself reads, in bytes."""


def archive_kind(names: Sequence[str]) -> str | None:
    """Which of torch's zip archives has files of these names: one of the kinds above, or None for another zip."""
    if any("/code/" in name or name.endswith("constants.pkl") for name in names):
        return TORCHSCRIPT
    if any(name.endswith(("models/model.json", "serialized_exported_program.json")) for name in names):
        return EXPORTED_PROGRAM
    return CHECKPOINT if any(name.endswith("data.pkl") for name in names) else None


def file_kind(path: Path) -> str:
    """What a model file is: `CHECKPOINT`, `SAFETENSORS`, `TORCHSCRIPT`, `EXPORTED_PROGRAM` or `ONNX`.

    A checkpoint is what `torch.save` wrote, in its zip format or in those of before, or any other pickle: what
    the pickle holds is for whoever reads it to say.

    Raises:
        ModelError: there is no such file, it is damaged, or it is no model; the message says what it is.
    """
    if path.is_dir():
        raise foreign_folder(path)
    if not path.exists():
        hint = address_hint(str(path)) or "parity models lists those known by name"
        raise ModelError("there is no such model file", where=str(path), hint=hint)
    if not path.is_file():
        raise ModelError("this is a pipe or a device, not a model file", where=str(path),
                         hint="write what comes out of it to a file, and give that")  # fmt: skip
    try:
        with path.open("rb") as file:
            return _kind(path, file)
    except OSError as error:
        raise ModelError(
            f"the model file cannot be read: {error.strerror or error}", where=str(path), hint=f"ls -l {typed(path)}"
        ) from error


def _kind(path: Path, file: BinaryIO) -> str:
    size = path.stat().st_size
    if size == 0:
        raise ModelError("the model file is empty", where=str(path), got="0 bytes", hint="copy or save it again")
    head = file.read(HEAD)
    # A zip archive within another file, such as a checkpoint in a tar, does not make that one an archive.
    if head[: len(ZIP)] == ZIP:
        return _zip_kind(path, file)
    if _is_safetensors(head):
        _check_safetensors(path, file, size)
        return SAFETENSORS
    # What has a signature of its own is told first: anything at all may begin like a pickle or a protobuf.
    found = foreign_file(path, head)
    if found is not None:
        raise found
    if head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return _tar_kind(path)
    if head[:1] == _PICKLE:
        _check_pickle(path, file)
        return CHECKPOINT
    if is_onnx(path, file, size):
        return ONNX
    raise ModelError(
        "this file is not a model",
        where=str(path),
        allowed="a checkpoint that torch.save wrote, safetensors, a TorchScript archive, or a .pt2 ExportedProgram",
        got=f"{size:,} bytes that begin with {head[:8].hex(' ')}",
        hint="check the path, or copy the file again if it was damaged on its way",
    )


def _zip_kind(path: Path, file: BinaryIO) -> str:
    try:
        if not zipfile.is_zipfile(file):
            names = None
        else:
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
    except Exception as error:  # names in a damaged directory are no text, to begin with
        raise ModelError("the model file is damaged", where=str(path), got=str(error), hint="copy it again") from error
    if names is None:
        raise ModelError("the model file is truncated", where=str(path), got="a zip archive without its directory",
                         hint="copy it again")  # fmt: skip
    kind = archive_kind(names)
    if kind is None:
        raise foreign_archive(path, names)
    return kind


def _tar_kind(path: Path) -> str:
    try:
        with tarfile.open(path, "r:") as archive:
            names = archive.getnames()
    except Exception as error:  # the same
        raise ModelError("the model file is damaged", where=str(path), got=str(error), hint="copy it again") from error
    if not OLDEST_NAMES.issubset(names):
        raise foreign_tar(path, names)
    return CHECKPOINT


def _check_pickle(path: Path, file: BinaryIO) -> None:
    """Raises ModelError for a pickle with arrays between its parts, which pickle itself cannot read."""
    file.seek(0)
    if _JOBLIB in file.read(_JOBLIB_WITHIN):
        raise foreign_pickle(path, "a joblib file, such as scikit-learn's models are kept in")


def _is_safetensors(head: bytes) -> bool:
    """Whether a file begins with the length of a JSON object and then that object."""
    if len(head) <= _SAFETENSORS_HEADER.size:
        return False
    (length,) = _SAFETENSORS_HEADER.unpack_from(head)
    return 1 < length <= _LONGEST_HEADER and head[_SAFETENSORS_HEADER.size : _SAFETENSORS_HEADER.size + 2] in (
        b'{"', b"{}", b"{ ", b"{\n",
    )  # fmt: skip


def _check_safetensors(path: Path, file: BinaryIO, size: int) -> None:
    """Raises ModelError where the header or the data behind it does not end within the file."""
    file.seek(0)
    (length,) = _SAFETENSORS_HEADER.unpack(file.read(_SAFETENSORS_HEADER.size))
    begin = _SAFETENSORS_HEADER.size + length
    if begin > size:
        raise _truncated(path, f"a header of {length:,} bytes in a file of {size:,}")
    try:
        header = json.loads(file.read(length))
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        end = begin + max(map(int, ends), default=0)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ModelError("the safetensors file is damaged", where=str(path), got="a header that cannot be read",
                         hint="copy it again") from error  # fmt: skip
    if end > size:
        raise _truncated(path, f"{size:,} bytes of {end:,}")


def _truncated(path: Path, got: str) -> ModelError:
    return ModelError("the safetensors file is truncated", where=str(path), got=got, hint="copy it again")


def check_checkpoint(path: Path) -> str:
    """The kind of what may hold the weights of a module: a checkpoint or safetensors.

    Raises:
        ModelError: the file is missing, empty, damaged, another kind of model, or no model at all.
    """
    kind = file_kind(path)
    if kind in (CHECKPOINT, SAFETENSORS):
        return kind
    raise ModelError(
        f"this file is {kind}, not a checkpoint",
        where=str(path),
        allowed="weights for a module: what torch.save wrote, or safetensors",
        hint=f"to judge it against its model: parity report MODEL --artifact {typed(path)}",
    )
