"""`ModelSpec`: how a model is built again in any process, and what it is judged on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from parity.models.signature import Signature

TORCHSCRIPT, PROGRAM, PICKLE = "torchscript", "program", "pickle"
"""Schemes of factory references that name a file which needs no architecture: `torchscript:FILE`."""


EVERY_BATCH = 0
"""The batch size that stands for every one in `Limits.max_ms`."""


@dataclass(frozen=True)
class Limits:
    """What the gates allow, for one model or one of its targets.

    Attributes:
        ratio: Largest error of a float target, in floors of the reference.
        agreement: Smallest share of decisions (classes, pixels, tokens, boxes) that a quantized target must keep.
        top5: The same for the set of the five most likely classes; None leaves it unjudged.
        sequence: The same for whole sequences of tokens; None leaves it unjudged.
        miou: Smallest mean intersection over union, of label maps and of boxes.
        cosine: Smallest mean cosine similarity of embeddings.
        neighbours: Smallest share of embeddings whose nearest neighbour stays the same.
        accuracy_drop: Largest loss of accuracy, or of what stands for it, against the labels; None leaves it unjudged.
        sqnr_db: Smallest signal-to-quantization-noise ratio, in dB; None leaves it unjudged.
        latency: Largest growth of the ratio to eager over the golden's.
        max_ms: Largest median of one call in ms, by batch size or at `EVERY_BATCH`; None leaves it unjudged.
        min_throughput: Smallest samples a second, at the best of the batch sizes; None leaves it unjudged.
        max_bytes: Largest size of the artifact; None leaves it unjudged.
        max_memory: Highest peak of resident memory in bytes, above what the process began with; None as before.
    """

    ratio: float = 10.0
    agreement: float = 0.98
    top5: float | None = None
    sequence: float | None = None
    miou: float = 0.9
    cosine: float = 0.98
    neighbours: float = 0.9
    accuracy_drop: float | None = None
    sqnr_db: float | None = None
    latency: float = 1.10
    max_ms: tuple[tuple[int, float], ...] | None = None
    min_throughput: float | None = None
    max_bytes: int | None = None
    max_memory: int | None = None

    def given(self) -> dict[str, Any]:
        """The limits that there are, by name."""
        found = {name: value for name, value in asdict(self).items() if value is not None}
        if self.max_ms:
            found["max_ms"] = {"every" if batch == EVERY_BATCH else str(batch): ms for batch, ms in self.max_ms}
        return found


@dataclass(frozen=True)
class ModelSpec:
    """One registered model.

    Every reference is text (`package.module:name`, `file.py:name` or a path relative to `root`), so
    that a spec crosses to a child process without pickling any code.

    Attributes:
        name: What the model is called, and the folder of its golden.
        factory: Reference to a callable without arguments that returns the `nn.Module`, to an architecture, or to
            a file that is a program.
        signature: The named inputs.
        root: The project's folder.
        weights: Checkpoint to load into the module, or None where the factory does it.
        samples: Held-out inputs: a file, or a reference to a callable.
        calibration: Inputs for static quantization, disjoint from the held-out ones.
        labels: Labels of the held-out samples: a file, or a reference to a callable.
        preprocess: What makes an image of a folder into inputs: `torchvision:WEIGHTS`, or a reference to a callable.
        targets: The targets that the team ships, or None for all of them.
        trust_pickle: Whether reading the checkpoint may run code that it holds.
        allow_missing: Patterns such as `fc.*` of keys that module and checkpoint need not share, or not in shape.
        decision: What users act on in its outputs, by output, or `*` for every output that it fits; inferred
            where it is left out.
        limits: What the gates allow.
        target_limits: The same for single targets, by target or exporter name.
        notes: What a reader should know of how the model was found.
    """

    name: str
    factory: str
    signature: Signature
    root: Path
    weights: str | None = None
    samples: str | None = None
    calibration: str | None = None
    labels: str | None = None
    preprocess: str | None = None
    targets: tuple[str, ...] | None = None
    trust_pickle: bool = False
    allow_missing: tuple[str, ...] = ()
    decision: tuple[tuple[str, str], ...] = ()
    limits: Limits = field(default_factory=Limits)
    target_limits: tuple[tuple[str, Limits], ...] = ()
    notes: tuple[str, ...] = ()

    def limits_for(self, target: str) -> Limits:
        """The limits of one target: its own, else its exporter's, else the model's."""
        own = dict(self.target_limits)
        return own.get(target, own.get(target.partition("@")[0], self.limits))

    def with_changes(self, **changes: object) -> ModelSpec:
        """A copy in which every change that is not None is made."""
        return replace(self, **{key: value for key, value in changes.items() if value is not None})  # type: ignore[arg-type]  # keys are fields by construction
