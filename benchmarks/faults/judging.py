"""The product's own stages and gates, and nothing else of it: load, reference, export, run, floor, verdict."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from parity.arrays import Array, ArrayReader, ArrayWriter
from parity.artifacts import Artifact
from parity.cells import Cell, Reference, judge_cell
from parity.compare.floor import ReferenceArrays, measure_floor
from parity.models.signature import parse_signature
from parity.models.spec import Limits, ModelSpec
from parity.records import NumericResult, Record, ShapeResult, Verdict
from parity.samples.calls import Call
from parity.samples.store import StoredSamples
from parity.workers.export import ExportTask, export
from parity.workers.load import HELD_OUT, load
from parity.workers.reference import ORACLE, REFERENCE, ReferenceTask, reference
from parity.workers.run import OUTPUTS, RunTask, run

INPUT = "image"
SWEEP = (1, 3)
"""Batch sizes besides the held-out calls of eight: what is asked here is how values differ, not shapes."""

Outputs = Mapping[str, Mapping[str, Array]]
"""Arrays by call and output."""


@dataclass(frozen=True)
class Judged:
    """What the gate said of one cell.

    Attributes:
        verdict: Of the cell.
        ratio: The largest ratio among outputs and batch sizes; None where one had none, such as another shape.
        needed: The smallest limit in floors at which the cell passes: like `ratio`, but errors within the
            allowance for long sums do not count. None where no limit lets it pass.
        error: The error that `ratio` belongs to.
        floor: Its floor.
        allowance: Its allowance for long sums.
        measure: Its measure.
        message: The gate's own, empty where it has none.
    """

    verdict: str
    ratio: float | None
    needed: float | None
    error: float | None = None
    floor: float | None = None
    allowance: float | None = None
    measure: str | None = None
    message: str = ""


def model_spec(name: str, factory: str, weights: Path | None, *, samples: Path, size: int, root: Path) -> ModelSpec:
    """The model as a user would register it, with default limits."""
    signature = parse_signature(f"{INPUT}: float32[N, 3, {size}, {size}]")
    return ModelSpec(
        name=name,
        factory=factory,
        signature=signature,
        root=root,
        weights=str(weights) if weights else None,
        samples=str(samples),
    )


class Bench:
    """One model with its reference, which cells are held against."""

    def __init__(self, spec: ModelSpec, folder: Path, threads: int = 1) -> None:
        self.spec = spec
        self.threads = threads
        self._folder = folder
        self._samples = folder / "samples"
        self._loaded = load(spec, self._samples, SWEEP)
        made = folder / "reference"
        task = ReferenceTask(spec, self._samples, self.calls, made, threads, self._loaded.model.weights_sha256)
        facts = reference(task)
        arrays = ReferenceArrays(ArrayReader(made, REFERENCE), ArrayReader(made, ORACLE))
        self._reference = Reference(facts, arrays, measure_floor(facts, arrays, self.calls))

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls that every target answers: held-out ones, then one for each batch size."""
        return self._loaded.calls

    @property
    def output_names(self) -> tuple[str, ...]:
        """The outputs as the reference calls them, in order."""
        return tuple(output.name for output in self._reference.facts.outputs)

    def eager(self) -> Outputs:
        """What eager returned."""
        return {call.id: self._reference.arrays.eager.get_all(call.id) for call in self.calls}

    def inputs(self) -> Mapping[str, Mapping[str, Array]]:
        """The inputs of each call."""
        stored = StoredSamples(self._samples / HELD_OUT, self.spec.signature)
        return {call.id: stored.batch(call.samples) for call in self.calls}

    def example(self) -> Array:
        """The images that exports are made with, float32 [2, 3, H, W]."""
        stored = StoredSamples(self._samples / HELD_OUT, self.spec.signature)
        return stored.batch(self._loaded.example)[INPUT]

    def export(self, exporter: str) -> Artifact:
        """The artifact of one of the product's exporters; raises whatever it raises."""
        folder = self._folder / exporter
        folder.mkdir()
        task = ExportTask(
            self.spec, exporter, self._samples, self._loaded.example, folder, None, self.threads,
            self._loaded.model.weights_sha256,
        )  # fmt: skip
        return Artifact(folder, export(task))

    def run(self, artifact: Artifact, runtime: str) -> Outputs:
        """What an artifact returns at one of the product's runtimes.

        Raises:
            RuntimeError: it does not open, or a call failed.
        """
        folder = self._folder / f"{artifact.manifest.exporter}@{runtime}"
        ran = run(RunTask(artifact, runtime, self.spec, self._samples, self.calls, folder, self.threads))
        if not ran.opened or ran.failed:
            raise RuntimeError(ran.message or "; ".join(ran.failed.values()))
        reader = ArrayReader(folder, OUTPUTS)
        return {call.id: reader.get_all(call.id) for call in self.calls}

    def judge(self, target: str, outputs: Outputs) -> Judged:
        """What the gates say with default limits."""
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            with ArrayWriter(Path(folder), OUTPUTS) as writer:
                for call, arrays in outputs.items():
                    writer.put_all(call, arrays)
            cell = Cell(
                target=target, precision="float", limits=Limits(), calls=self.calls,
                outputs=ArrayReader(Path(folder), OUTPUTS), failed={}, labels=None, synthetic=False,
            )  # fmt: skip
            return _summary(judge_cell(cell, self._reference))


def _summary(record: Record) -> Judged:
    results: list[NumericResult | ShapeResult] = [*record.numeric, *record.shapes]
    measured = [each for each in results if each.ratio is not None]
    broken = any(each.ratio is None and each.verdict is Verdict.FAIL for each in results)
    worst = max(measured, key=lambda each: (_counts(each), each.ratio or 0.0), default=None)
    needed = max((each.ratio or 0.0 for each in measured if _counts(each)), default=0.0)
    held_out = worst if isinstance(worst, NumericResult) else None
    return Judged(
        verdict=str(record.verdict),
        ratio=None if broken or worst is None else worst.ratio,
        needed=None if broken else needed,
        error=worst.error if worst else None,
        floor=held_out.floor if held_out else None,
        allowance=worst.allowance if worst else None,
        measure=held_out.measure if held_out else None,
        message=record.message,
    )


def _counts(result: NumericResult | ShapeResult) -> bool:
    """Whether the error is beyond what long sums may cost in any order."""
    return (result.error or 0.0) > (result.allowance or 0.0)
