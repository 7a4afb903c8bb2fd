"""torch's zip archives: TorchScript and exported programs."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

from parity.artifacts import Artifact, Declared
from parity.exporters.declared import program_dims
from parity.models.files.foreign import foreign_archive
from parity.models.files.kinds import CHECKPOINT, EXPORTED_PROGRAM, archive_kind
from parity.workers.inspecting.described import described, most_weights
from parity.workers.inspecting.strangers import WEIGHTS, no_artifact, not_an_artifact


def inspect_archive(path: Path) -> Artifact:
    """Describe a zip archive.

    Raises:
        UsageError: it is a checkpoint, or no archive of torch's.
    """
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        kind = archive_kind(names)
        if kind == CHECKPOINT:
            raise not_an_artifact(path, WEIGHTS, f"parity report {path}")
        if kind is None:
            raise no_artifact(path, foreign_archive(path, names))
        problem = _damage(archive)
        written = "" if problem else "".join(_text(archive, name) for name in names if name.endswith(".py"))
    if kind == EXPORTED_PROGRAM:
        declared = None if problem else _program_dims(path)
        return described(path, "exported-program", declared=declared, problem=problem)
    precision = "int8" if "quantized" in written else "float" if problem else _script_precision(path)
    return described(path, "torchscript", precision, problem=problem)


def _damage(archive: zipfile.ZipFile) -> str | None:
    """What is wrong with the archive's content; whoever reads it would stumble over it in other words."""
    try:
        bad = archive.testzip()
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        return f"the archive is damaged: {error}: copy or export it again"
    return f"the archive is damaged: {bad} is not what was written: copy or export it again" if bad else None


def _text(archive: zipfile.ZipFile, name: str) -> str:
    return archive.read(name).decode("utf-8", "replace")


def _program_dims(path: Path) -> Declared | None:
    import torch  # noqa: PLC0415  # only for this kind of file

    try:
        return program_dims(torch.export.load(path))
    except Exception:  # noqa: BLE001  # an operator that only the model's code registers: the open stage tells
        return None


def _script_precision(path: Path) -> str:
    import torch  # noqa: PLC0415  # only for this kind of file

    try:
        module = torch.jit.load(str(path), map_location="meta")
    except Exception:  # noqa: BLE001  # the open stage says what is wrong with it
        return "float"
    sizes = Counter[str]()
    for tensor in (*module.parameters(), *module.buffers()):
        sizes[str(tensor.dtype).rpartition(".")[2]] += tensor.numel()
    return most_weights(sizes)
