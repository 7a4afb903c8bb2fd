"""The export stage: one exporter makes one artifact."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch

from parity.artifacts import Artifact, Declared, Manifest, describe_files
from parity.compare.structure import flatten
from parity.exporters import EXPORTERS, ExportJob
from parity.exporters.declared import onnx_dims
from parity.models.build import build, require_weights
from parity.models.spec import ModelSpec
from parity.samples.calls import plan_calls
from parity.samples.store import StoredSamples
from parity.workers.load import CALIBRATION, HELD_OUT


@dataclass(frozen=True)
class ExportTask:
    """What a child needs to export: everything is a path, a name or plain data."""

    spec: ModelSpec
    exporter: str
    samples: Path
    example: tuple[int, ...]
    folder: Path
    source: Artifact | None
    threads: int
    weights_sha256: str


def export(task: ExportTask) -> Manifest:
    """Build the model, export it into `task.folder`, and describe what came out.

    The clock runs over the exporter alone. Raises whatever the exporter raises.
    """
    torch.set_num_threads(task.threads)
    exporter = EXPORTERS.get(task.exporter)
    module = build(task.spec).module
    require_weights(module, task.weights_sha256, task.spec)
    for parameter in module.parameters():
        parameter.requires_grad_(False)  # noqa: FBT003  # torch takes it by position alone
    stored = StoredSamples(task.samples / HELD_OUT, task.spec.signature)
    example = _tensors(stored, task.example)
    with torch.no_grad():
        # A copy, because a first call may leave traces (caches, counters) that an export would bake in.
        outputs = tuple(flatten(copy.deepcopy(module)(*(tensor.clone() for tensor in example))))
    job = ExportJob(
        module=module,
        example=example,
        signature=task.spec.signature,
        outputs=outputs,
        calibration=(lambda: _calibration_batches(task)) if task.spec.calibration else None,
        folder=task.folder,
        source=task.source,
    )
    start = time.perf_counter()
    exported = exporter.export(job)
    seconds = time.perf_counter() - start
    return Manifest(
        exporter=exporter.name,
        format=exporter.format,
        precision=exporter.precision,
        entry=exported.entry,
        outputs=outputs,
        seconds=seconds,
        files=describe_files(task.folder),
        notes=exported.notes,
        declared=exported.declared or _declared(exporter.format, task.folder / exported.entry),
    )


def _declared(kind: str, path: Path) -> Declared | None:
    if kind != "onnx":
        return None
    import onnx  # noqa: PLC0415  # optional, and whoever made the file has loaded it

    return onnx_dims(onnx.load(path, load_external_data=False))


def _tensors(stored: StoredSamples, indices: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
    return tuple(torch.from_numpy(array) for array in stored.batch(indices).values())


def _calibration_batches(task: ExportTask) -> Iterable[tuple[torch.Tensor, ...]]:
    signature = task.spec.signature
    stored = StoredSamples(task.samples / CALIBRATION, signature)
    for call in plan_calls(stored.shapes, (), signature.batch_dim):
        yield _tensors(stored, call.samples)
