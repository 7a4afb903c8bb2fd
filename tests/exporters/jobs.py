"""A tiny model and the job that exports it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from parity.arrays import Array
from parity.artifacts import Artifact, Manifest, describe_files
from parity.exporters import EXPORTERS, ExportJob
from parity.models.signature import parse_signature


class Tiny(nn.Module):
    """A convolution and a linear layer; the scores and their sum."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.linear = nn.Conv2d(2, 4, 3), nn.Linear(4 * 4 * 4, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.conv(image))
        scores: torch.Tensor = self.linear(hidden.flatten(1))
        return scores


SIGNATURE = parse_signature("image: float32[N, 2, 6, 6]")


def images(count: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal((count, 2, 6, 6)).astype(np.float32)


def calibration() -> Iterable[tuple[torch.Tensor, ...]]:
    return [(torch.from_numpy(images(8, seed)),) for seed in range(4)]


def job(folder: Path, module: nn.Module | None = None, **changes: object) -> ExportJob:
    folder.mkdir(parents=True, exist_ok=True)
    made = ExportJob(
        module=(module or Tiny()).eval(),
        example=(torch.from_numpy(images(2, 99)),),
        signature=SIGNATURE,
        outputs=("output",),
        calibration=calibration,
        folder=folder,
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # fields by name


def exported(name: str, made: ExportJob) -> Artifact:
    """What an exporter makes of a job, and before it what it starts from."""
    exporter = EXPORTERS.get(name)
    if exporter.source is not None:
        beside = made.folder.parent / f"{exporter.source}-for-{name}"
        beside.mkdir()
        made = replace(made, source=exported(exporter.source, replace(made, folder=beside)))
    done = exporter.export(made)
    manifest = Manifest(
        name, exporter.format, exporter.precision, done.entry, made.outputs,
        files=describe_files(made.folder), notes=done.notes,
    )  # fmt: skip
    return Artifact(made.folder, manifest)
