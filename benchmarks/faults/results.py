"""What came of each network, and the file that finished ones are kept in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
import torch
import torchvision

import parity
from benchmarks.faults.judging import Judged

SOURCES = (Path(__file__).parent, Path(parity.__file__).parent)


@dataclass(frozen=True)
class HealthyCell:
    """An export that nothing was done to, at one runtime.

    `like` names the earlier cell, or `eager`, whose outputs are the same bit by bit. `refused` says by fixed rule
    whether it was refused.
    """

    target: str
    judged: Judged
    refused: Mapping[str, bool]
    like: str | None = None


@dataclass(frozen=True)
class PlantedFault:
    """A fault and what became of it.

    `effect` is how far it moved the outputs, None where they are no longer finite; `problem` says why the edited
    graph did not run.
    """

    name: str
    kind: str
    family: str
    sites: int
    effect: float | None = None
    judged: Judged | None = None
    refused: Mapping[str, bool] | None = None
    problem: str | None = None


@dataclass(frozen=True)
class NetworkResult:
    """Everything about one network; `missing` are the targets that could not be made, with the reason."""

    network: str
    base: str
    cells: tuple[HealthyCell, ...]
    faults: tuple[PlantedFault, ...]
    missing: Mapping[str, str]
    seconds: float


@cache
def fingerprint() -> str:
    """Digest of the code and the versions that results depend on: those of other code are not gone on with."""
    sha = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted(folder.rglob("*.py")):
            sha.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    sha.update(json.dumps(versions()).encode())
    return sha.hexdigest()[:16]


def versions() -> dict[str, str]:
    """Versions of the packages that make and run the graphs."""
    modules = (torch, torchvision, onnx, onnxruntime)
    return {module.__name__: str(module.__version__) for module in modules}


def keep(path: Path, result: NetworkResult) -> None:
    """Append a finished network to the file of kept results."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"code": fingerprint(), **asdict(result)}) + "\n")


def kept(path: Path) -> dict[str, NetworkResult]:
    """The finished networks of an earlier run of the same code."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["network"]: _read(line) for line in lines if line.pop("code") == fingerprint()}


def _read(held: dict[str, Any]) -> NetworkResult:
    cells = tuple(HealthyCell(**{**each, "judged": Judged(**each["judged"])}) for each in held.pop("cells"))
    faults = tuple(
        PlantedFault(**{**each, "judged": Judged(**each["judged"]) if each["judged"] else None})
        for each in held.pop("faults")
    )
    return NetworkResult(**held, cells=cells, faults=faults)
