"""What a file made elsewhere is: its format, its precision and every file of it, from its content.

What is no artifact at all is a wrong request. What is one and is damaged becomes a record, so that it hides no other
target: `Manifest.problem` says what is wrong.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from parity.artifacts import Artifact
from parity.errors import UsageError
from parity.models.wording import address_hint
from parity.workers.inspecting.archives import inspect_archive
from parity.workers.inspecting.found import artifact_file
from parity.workers.inspecting.graphs import inspect_onnx, inspect_ort, is_ort
from parity.workers.inspecting.strangers import refuse_stranger

__all__ = ["inspect_artifact"]


def inspect_artifact(given: Path) -> Artifact:
    """Describe a file, or the only artifact in a folder, as an artifact of the folder it lies in.

    Raises:
        UsageError: there is no such file, it is no artifact, or it is one that no runtime here reads.
    """
    if not given.exists():
        hint = address_hint(str(given)) or "check the path given to --artifact"
        raise UsageError("there is no such artifact", where=str(given), hint=hint)
    if not given.is_dir() and not given.is_file():
        raise UsageError("this is a pipe or a device, not an artifact", where=str(given),
                         hint="write what comes out of it to a file, and give that")  # fmt: skip
    path = artifact_file(given)
    if zipfile.is_zipfile(path):
        return inspect_archive(path)
    if is_ort(path):
        return inspect_ort(path)
    refuse_stranger(path)
    return inspect_onnx(path)
