"""Which file is meant where a folder is given."""

from __future__ import annotations

from pathlib import Path

from parity.errors import UsageError
from parity.workers.inspecting.strangers import refuse_strange_folder

SUFFIXES = frozenset({".onnx", ".ort", ".pt2", ".pt", ".pth", ".ts", ".torchscript", ".jit"})
"""What artifacts in a folder are called; one that is given by its own path may be called anything."""

_SHOWN = 6


def artifact_file(given: Path) -> Path:
    """The file itself, or the only one in a folder that is called like an artifact.

    Raises:
        UsageError: the folder holds none, several, or is itself a format that nothing here reads.
    """
    if not given.is_dir():
        return given
    refuse_strange_folder(given)
    inside = sorted(path for path in given.iterdir() if path.is_file())
    found = [path for path in inside if path.suffix in SUFFIXES]
    if len(found) == 1:
        return found[0]
    shown = ", ".join(path.name for path in (found or inside)[:_SHOWN]) or "nothing"
    if found:
        raise UsageError("this folder holds several artifacts", where=str(given), got=shown,
                         hint=" ".join(f"--artifact {path}" for path in found[:_SHOWN]))  # fmt: skip
    raise UsageError("this folder holds no artifact", where=str(given), allowed=", ".join(sorted(SUFFIXES)), got=shown,
                     hint="give the file itself")  # fmt: skip
