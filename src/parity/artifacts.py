"""An artifact: a folder of files that an exporter made, with a manifest that says what they are."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

MANIFEST = "artifact.json"

MODULE = "module"
"""The format of a target without a file to ship: the model itself, built again wherever it is opened. Its one file is
a recipe, which says what is done with the model then."""

QUANTIZED = frozenset({"int8"})
"""Precisions that are judged by decisions: their distance from the reference is by design."""

REDUCED = frozenset({"float16", "bfloat16"})
"""Precisions whose floor is that of the eager model in the same precision."""
_CHUNK = 1 << 20


Bounds = tuple[int | None, int | None]
"""Lowest and highest size of a dimension; None where it is open, both the same where it is a constant."""


@dataclass(frozen=True)
class Declared:
    """What an artifact itself says of the dimensions of its inputs and outputs, by name and in order."""

    inputs: Mapping[str, tuple[Bounds, ...]]
    outputs: Mapping[str, tuple[Bounds, ...]]


@dataclass(frozen=True)
class Manifest:
    """What is in an artifact's folder.

    Attributes:
        exporter: The name of what made it, or of the file where it was made elsewhere.
        format: What a runtime has to be able to read: `torchscript`, `exported-program`, `onnx`,
            `torch-quantized`, `ort`, `module`.
        precision: `float` for the model's own, or one of `QUANTIZED` or `REDUCED`.
        entry: The file to open, relative to the folder.
        outputs: Names of the outputs in order, as the reference calls them; empty where unknown.
        seconds: How long the export took.
        files: Digest and size of every file.
        notes: What a reader should know, such as a fallback that was taken.
        declared: The dimensions that it declares; None where its format has none.
        foreign: Whether it was made elsewhere.
        problem: Why no runtime can open it, such as external data that is missing; None where nothing is known to be
            wrong.
    """

    exporter: str
    format: str
    precision: str
    entry: str
    outputs: tuple[str, ...] = ()
    seconds: float = 0.0
    files: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    declared: Declared | None = None
    foreign: bool = False
    problem: str | None = None

    @property
    def sha256(self) -> str:
        """One digest for every file: weights beside the model count as much as the model."""
        listing = "\n".join(f"{sha} {name}" for name, (sha, _) in sorted(self.files.items()))
        return hashlib.sha256(listing.encode()).hexdigest()

    @property
    def bytes(self) -> int:
        """Size of every file together."""
        return sum(size for _, size in self.files.values())


@dataclass(frozen=True)
class Artifact:
    """A manifest and the folder that it describes.

    `scratch` is a folder for what a runtime makes and wants to find again, in the next process and the next run; None
    where nothing is kept.
    """

    folder: Path
    manifest: Manifest
    scratch: Path | None = None

    @property
    def entry(self) -> Path:
        """The file to open."""
        return self.folder / self.manifest.entry


def describe_files(folder: Path, *, only: tuple[str, ...] | None = None) -> dict[str, tuple[str, int]]:
    """Digest and size of the files in a folder, the manifest and logs left out."""
    paths = [folder / name for name in only] if only else sorted(path for path in folder.rglob("*") if path.is_file())
    skipped = {MANIFEST, "export.log"}
    return {
        path.relative_to(folder).as_posix(): (file_digest(path), path.stat().st_size)
        for path in paths
        if path.name not in skipped
    }


def file_digest(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            sha.update(piece)
    return sha.hexdigest()


def write_manifest(folder: Path, manifest: Manifest) -> Artifact:
    """Write the manifest last: a folder without one is not an artifact."""
    temporary = folder / f"{MANIFEST}.part"
    temporary.write_text(json.dumps(asdict(manifest), indent=2))
    temporary.replace(folder / MANIFEST)
    return Artifact(folder, manifest)


def write_recipe(path: Path, recipe: Mapping[str, str]) -> None:
    """Write the file of an artifact of the format `MODULE`: its digest is that of everything in the recipe."""
    path.write_text(json.dumps(dict(recipe), indent=2, sort_keys=True) + "\n")


def read_recipe(path: Path) -> dict[str, str]:
    """What `write_recipe` wrote."""
    recipe: dict[str, str] = json.loads(path.read_text())
    return recipe


def read_artifact(folder: Path) -> Artifact | None:
    """The artifact of a folder whose files are all as the manifest says, or None."""
    try:
        held = json.loads((folder / MANIFEST).read_text())
        files = {name: (str(sha), int(size)) for name, (sha, size) in held.pop("files").items()}
        outputs, notes = tuple(held.pop("outputs")), tuple(held.pop("notes"))
        declared = _declared(held.pop("declared"))
        manifest = Manifest(**held, outputs=outputs, notes=notes, files=files, declared=declared)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Artifact(folder, manifest) if describe_files(folder) == manifest.files else None


def _declared(held: Any) -> Declared | None:
    if held is None:
        return None
    inputs, outputs = (
        {name: tuple((low, high) for low, high in dims) for name, dims in held[side].items()}
        for side in ("inputs", "outputs")
    )
    return Declared(inputs, outputs)


@contextlib.contextmanager
def emptied(folder: Path) -> Iterator[None]:
    """A folder to fill anew: what it held before comes back where the block is left by an exception.

    Where nothing was there before, nothing is left behind either. What a killed process had set aside
    is what the last whole report speaks of, and is kept over what lies in its place.
    """
    aside = folder.with_name(f".{folder.name}.previous")
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    if folder.exists() and not aside.exists():
        folder.replace(aside)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        if aside.exists():
            aside.replace(folder)
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)
