"""The artifact that an inspected file becomes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from parity.artifacts import REDUCED, Artifact, Declared, Manifest, describe_files


def described(
    path: Path,
    kind: str,
    precision: str = "float",
    *,
    beside: tuple[str, ...] = (),
    declared: Declared | None = None,
    notes: tuple[str, ...] = (),
    problem: str | None = None,
) -> Artifact:
    """The artifact of one file and those that it needs `beside` it, with digest and size of each."""
    manifest = Manifest(
        exporter=path.name,
        format=kind,
        precision=precision,
        entry=path.name,
        files=describe_files(path.parent, only=(path.name, *beside)),
        notes=notes,
        declared=declared,
        foreign=True,
        problem=problem,
    )
    return Artifact(path.parent, manifest)


def most_weights(sizes: Mapping[str, int]) -> str:
    """The reduced precision that most of the weights have (numbers of elements by dtype), or `float`."""
    floats = {name: sizes.get(name, 0) for name in ("float32", "float64", *REDUCED)}
    most = max(floats, key=lambda name: floats[name])
    return most if most in REDUCED and floats[most] else "float"
