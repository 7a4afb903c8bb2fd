"""The load stage: build the model, write the samples down, plan the calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from parity.errors import SampleError
from parity.models.build import build, code_digest, factory_file, weights_digest
from parity.models.spec import ModelSpec
from parity.records import ModelFacts, SampleFacts
from parity.samples.calls import Call, plan_example
from parity.samples.excluded import Excluded, plan_excluded
from parity.samples.fitting import Sample
from parity.samples.rows import Labels
from parity.samples.sources import read_labels, read_samples
from parity.samples.store import SampleSet, StoredSamples, check_disjoint, write_made, write_samples
from parity.samples.sweep import plan_sweep
from parity.samples.synthetic import synthetic_samples

HELD_OUT = "held-out"
CALIBRATION = "calibration"


@dataclass(frozen=True)
class Loaded:
    """What the rest of the run needs to know of the model and the samples.

    `excluded` are calls that the signature rules out, for eager and then a target to refuse. `left_out` are the
    batch sizes that were asked for and that it does not allow. `example_sha256` stands for the inputs that an
    export depends on besides the model: the example and the calibration samples.
    """

    model: ModelFacts
    samples: SampleFacts
    calls: tuple[Call, ...]
    excluded: tuple[Excluded, ...]
    left_out: tuple[int, ...]
    example: tuple[int, ...]
    example_sha256: str
    calibration_sha256: str


def load(spec: ModelSpec, folder: Path, batch_sizes: tuple[int, ...]) -> Loaded:
    """Build the model and write its samples to `folder`.

    Raises:
        ModelError: the model cannot be built.
        SampleError: samples cannot be read, do not fit, or held-out and calibration samples overlap.
    """
    built = build(spec)
    held_out, synthetic = _held_out(spec, folder)
    calibration = _calibration(spec, folder)
    if calibration is not None:
        check_disjoint(held_out, calibration, f"{spec.name}: {spec.samples} and {spec.calibration}")
    stored = StoredSamples(folder / HELD_OUT, spec.signature)
    elements = [sum(array.size for array in stored[index].values()) for index in range(len(stored))]
    example = plan_example(held_out.shapes, elements, spec.signature.batch_dim)
    sweep = plan_sweep(stored, spec.signature, batch_sizes, max(elements))
    excluded, others = plan_excluded(stored, spec.signature, held_out.n + len(sweep.made))
    write_made(folder / HELD_OUT, (*sweep.made, *others), held_out.n)
    module = built.module
    return Loaded(
        model=ModelFacts(
            name=spec.name,
            source=spec.weights or spec.factory,
            weights_sha256=weights_digest(module),
            code_sha256=code_digest(module, factory_file(spec)),
            parameters=sum(parameter.numel() for parameter in module.parameters()),
            inputs=tuple(map(str, spec.signature.inputs)),
            notes=built.notes,
        ),
        samples=SampleFacts(
            source=spec.samples or "synthetic",
            n=held_out.n,
            sha256=held_out.sha256,
            labelled=held_out.labelled,
            synthetic=synthetic,
            calibration_source=spec.calibration,
            calibration_n=calibration.n if calibration else None,
            notes=sweep.notes,
        ),
        calls=sweep.calls,
        excluded=excluded,
        left_out=sweep.left_out,
        example=example,
        example_sha256=",".join(held_out.digests[index] for index in example),
        calibration_sha256=calibration.sha256 if calibration else "",
    )


def _held_out(spec: ModelSpec, folder: Path) -> tuple[SampleSet, bool]:
    samples: Iterable[Sample]
    labels: Labels | None
    if spec.samples is None:
        samples, labels, where = synthetic_samples(spec.signature), None, "synthetic samples"
    else:
        samples, labels = read_samples(spec.samples, spec.signature, spec.root, spec.preprocess)
        where = spec.samples
    if spec.labels is not None and spec.samples is None:
        raise SampleError("labels are of given samples, and there are none", where=spec.labels,
                          hint=f"add --samples SOURCE, in the order of --labels {spec.labels}")  # fmt: skip
    if spec.labels is not None:
        labels = read_labels(spec.labels, spec.root)
    return write_samples(folder / HELD_OUT, samples, spec.signature, labels, where), spec.samples is None


def _calibration(spec: ModelSpec, folder: Path) -> SampleSet | None:
    if spec.calibration is None:
        return None
    try:
        samples, _ = read_samples(spec.calibration, spec.signature, spec.root, spec.preprocess)
        return write_samples(folder / CALIBRATION, samples, spec.signature, None, spec.calibration)
    except SampleError as error:
        raise SampleError(
            f"calibration: {error.what}",
            where=error.where,
            allowed=error.allowed,
            got=error.got,
            hint=error.hint,
        ) from error
