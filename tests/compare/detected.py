"""Detections made by hand: a reference, and targets that are held against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from parity.arrays import Array
from parity.compare.floor import ReferenceArrays, measure_floor
from parity.compare.kinds import decided
from parity.compare.sets import set_groups
from parity.records import OutputFacts, ReferenceFacts
from parity.samples.calls import Call
from tests.compare.cases import Case, store

Outputs = Mapping[str, Array]
RNG = np.random.default_rng(3)


def found(count: int, seed: int = 0, classes: int = 3) -> dict[str, Array]:
    """Boxes that hardly overlap, on a grid, with scores from 0.9 downwards."""
    rng = np.random.default_rng(seed)
    corner = np.stack(np.divmod(np.arange(count), 8), axis=1) * 40.0 + rng.uniform(0, 4, (count, 2))
    return {
        "boxes": np.concatenate([corner, corner + rng.uniform(20, 32, (count, 2))], axis=1),
        "scores": np.linspace(0.9, 0.3, count),
        "labels": rng.integers(1, classes + 1, count),
    }


def narrow(outputs: Outputs, *, ulps: float = 2.0, seed: int = 1) -> dict[str, Array]:
    """The same in float32, off by a few roundings."""
    rng = np.random.default_rng(seed)

    def rounded(each: Array) -> Array:
        made: Array = (each * (1 + rng.uniform(-ulps, ulps, each.shape) * 2.0**-24)).astype(np.float32)  # type: ignore[operator]  # floats
        return made

    return {name: rounded(each) if each.dtype.kind == "f" else each for name, each in outputs.items()}


def shuffled(outputs: Outputs, seed: int = 0) -> dict[str, Array]:
    order = np.random.default_rng(seed).permutation(len(outputs["boxes"]))
    return {name: each[order] for name, each in outputs.items()}


def without(outputs: Outputs, place: int) -> dict[str, Array]:
    return {name: np.delete(each, place, axis=0) for name, each in outputs.items()}


def detector(
    folder: Path,
    exact: Sequence[Outputs],
    eager: Sequence[Outputs] | None = None,
    copies: Mapping[str, Outputs] | None = None,
) -> Case:
    """A reference of one image a call; `copies` are eager's under jitter, by id."""
    eager = [narrow(each) for each in exact] if eager is None else eager
    calls = tuple(Call(f"h{number}", (number,)) for number in range(len(exact)))
    facts = ReferenceFacts(
        oracle="float64",
        outputs=tuple(
            OutputFacts(name=name, dtype=each.dtype.name, shape=each.shape, batched=False)
            for name, each in eager[0].items()
        ),
        longest_reduction=1,
        jittered_copies=0,
        seconds=0.0,
        threads=1,
    )
    ours = store(folder, {**{f"h{number}": each for number, each in enumerate(eager)}, **(copies or {})})
    theirs = store(folder, {f"h{number}": each for number, each in enumerate(exact)})
    facts = decided(facts, ours, calls)
    arrays = ReferenceArrays(ours, theirs, set_groups(facts.outputs))
    return Case(folder, calls, facts, arrays, measure_floor(facts, arrays, calls))
