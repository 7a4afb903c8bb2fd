"""What a model file is, from its content, without loading torch."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

from parity.errors import ModelError

TORCHSCRIPT = "a TorchScript archive"
EXPORTED_PROGRAM = "an ExportedProgram"
CHECKPOINT = "a checkpoint"

_PICKLE = b"\x80"
_TAR = b"ustar"


def archive_kind(names: Sequence[str]) -> str | None:
    """Which of torch's zip archives has files of these names: one of the kinds above, or None for another zip."""
    if any("/code/" in name or name.endswith("constants.pkl") for name in names):
        return TORCHSCRIPT
    if any(name.endswith(("models/model.json", "serialized_exported_program.json")) for name in names):
        return EXPORTED_PROGRAM
    return CHECKPOINT if any(name.endswith("data.pkl") for name in names) else None


def check_checkpoint(path: Path) -> None:
    """Let through what may be a checkpoint.

    Raises:
        ModelError: the file is missing, empty, another kind of model, or no model at all.
    """
    if not path.is_file():
        raise ModelError("there is no such model file", where=str(path), hint="parity models lists those known by name")
    if path.stat().st_size == 0:
        raise ModelError("the model file is empty", where=str(path), hint="copy or train it again")
    if path.suffix == ".safetensors":
        return
    with path.open("rb") as file:
        head = file.read(512)
    if zipfile.is_zipfile(path):
        _check_archive(path)
    elif head[:4] == b"PK\x03\x04":
        raise ModelError("the model file is truncated", where=str(path), got="a zip archive without its directory",
                         hint="copy it again")  # fmt: skip
    elif head[:1] != _PICKLE and head[257:262] != _TAR:
        raise ModelError("this file is not a model", where=str(path), allowed="a checkpoint that torch.save wrote")


def _check_archive(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile as error:
        raise ModelError("the model file is damaged", where=str(path), got=str(error)) from error
    kind = archive_kind(names)
    if kind == CHECKPOINT:
        return
    raise ModelError(
        f"this file is {kind or 'a zip archive that holds no model'}, not a checkpoint",
        where=str(path),
        hint=f"to judge it against its model: parity report MODEL --artifact {path}",
    )
