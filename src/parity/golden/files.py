"""A golden on disk: `golden.json` for people and diffs, `outputs.safetensors` for the arrays.

Each file is written under a temporary name and renamed. Two files cannot be renamed at once, so the
outputs that the old `golden.json` belongs to stay under a second name until the new one is in place: a
crash at any moment leaves the old golden or the new one, whole.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import safetensors.numpy
from pydantic import TypeAdapter, ValidationError
from safetensors import SafetensorError

from parity.arrays import Array
from parity.errors import GoldenError
from parity.golden.record import GOLDEN_SCHEMA, Golden, GoldenFacts
from parity.settings import Settings
from parity.storage import Place, storing

FACTS = "golden.json"
OUTPUTS = "outputs.safetensors"
PREVIOUS = "outputs.previous.safetensors"


def golden_folder(settings: Settings, name: str) -> Path:
    """Where the golden of a model is kept."""
    return settings.root / settings.golden / name


def place(folder: Path) -> Place:
    """What to say of a golden's folder where it cannot be written to."""
    return Place(folder, "the golden", "make room there, or choose another folder with --golden DIR")


def exists(folder: Path) -> bool:
    """Whether there is a golden, be it damaged."""
    return (folder / FACTS).is_file()


def read_golden(folder: Path) -> Golden:
    """The golden in `folder`, checked against its own digests.

    Raises:
        GoldenError: there is none, it is of another schema, or one of its files is damaged.
    """
    facts = read_facts(folder)
    tensors = _read_outputs(folder, facts)
    return Golden(**{each.name: getattr(facts, each.name) for each in dataclasses.fields(facts)}, tensors=tensors)


def read_facts(folder: Path) -> GoldenFacts:
    """Only what `golden.json` says; raises GoldenError as `read_golden` does."""
    path = folder / FACTS
    name = folder.name
    try:
        text = path.read_text(encoding="utf-8")
        data = json.loads(text)
    except FileNotFoundError as error:
        raise GoldenError(
            f"there is no golden of {name}", where=str(folder), hint=f"`parity golden record {name}`"
        ) from error
    except (OSError, ValueError) as error:
        raise _damaged(path, str(error)) from error
    found = data.get("schema") if isinstance(data, dict) else None
    if found != GOLDEN_SCHEMA:
        raise GoldenError(
            f"the golden of {name} cannot be read by this version of parity",
            where=str(path),
            allowed=f"schema {GOLDEN_SCHEMA}",
            got=f"schema {found}" if found else "no schema",
            hint=f"remove {folder} and `parity golden record {name}`, or use the parity that wrote it",
        )
    try:
        facts = _adapter().validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise _damaged(path, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    if len(facts.kept) != len(facts.kept_digests):
        raise _damaged(path, f"{len(facts.kept)} kept samples with {len(facts.kept_digests)} digests")
    return facts


def _damaged(path: Path, got: str) -> GoldenError:
    folder = path.parent
    return GoldenError(
        f"the golden of {folder.name} is damaged",
        where=str(path),
        got=got,
        hint=f"restore it from version control, or remove {folder} and `parity golden record {folder.name}`",
    )


def _read_outputs(folder: Path, facts: GoldenFacts) -> dict[str, Array]:
    path = folder / OUTPUTS
    # The second is there only where a write was cut short before its golden.json was in place.
    for candidate in (path, folder / PREVIOUS):
        try:
            data = candidate.read_bytes()
        except OSError:
            continue
        if hashlib.sha256(data).hexdigest() == facts.outputs_sha256:
            try:
                tensors: dict[str, Array] = safetensors.numpy.load(data)
            except SafetensorError as error:
                raise _damaged(candidate, str(error)) from error
            return tensors
    if not path.is_file():
        raise _damaged(path, "no such file")
    raise _damaged(path, f"{path.stat().st_size} bytes that are not those of the digest in {FACTS}")


def write_golden(folder: Path, golden: Golden) -> Golden:
    """Write a golden, replacing the one that is there; returns it with the digest of its outputs.

    Raises:
        StorageError: the folder is full or cannot be written to; the golden that is there stays as it is.
    """
    outputs = safetensors.numpy.save(dict(golden.tensors))
    golden = dataclasses.replace(golden, outputs_sha256=hashlib.sha256(outputs).hexdigest())
    text = facts_text(golden).encode()
    with storing(place(folder), needed=len(outputs) + len(text)):
        if exists(folder) and (folder / OUTPUTS).is_file() and not _interrupted(folder):
            _replace(folder / PREVIOUS, (folder / OUTPUTS).read_bytes())
        _replace(folder / OUTPUTS, outputs)
        _replace(folder / FACTS, text)
        (folder / PREVIOUS).unlink(missing_ok=True)
    return golden


def _interrupted(folder: Path) -> bool:
    """Whether the outputs that golden.json belongs to are the ones under the second name already."""
    with contextlib.suppress(OSError, GoldenError):
        expected = read_facts(folder).outputs_sha256
        return hashlib.sha256((folder / PREVIOUS).read_bytes()).hexdigest() == expected
    return False


def facts_text(facts: GoldenFacts) -> str:
    """`golden.json`: sorted keys and one value a line, so that a diff shows what was approved anew."""
    plain = _adapter().dump_python(facts, mode="json", exclude_none=True, warnings=False)
    return json.dumps(plain, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


@cache
def _adapter() -> TypeAdapter[GoldenFacts]:
    return TypeAdapter(GoldenFacts)


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, temporary) if path.exists() else Path(temporary).chmod(0o644)
        os.replace(temporary, path)  # noqa: PTH105  # the name by which tests interrupt it
    finally:
        Path(temporary).unlink(missing_ok=True)
