"""A golden: what was approved at the last release, as plain files in `golden/NAME/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from pydantic import ConfigDict

from parity.arrays import Array

GOLDEN_SCHEMA = "parity-golden/1"
"""The schema of `golden.json`. A file of another one is refused, not guessed at."""

_STRICT = ConfigDict(strict=True, extra="forbid")


@dataclass(frozen=True, kw_only=True)
class LatencyRatio:
    """A target's time over eager's in the same run, with the bounds of its 95 % interval where it has one."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    ratio: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Subset:
    """An output of which a sample is too large to keep: how many positions are kept, of which shape.

    The positions themselves lie beside the values, drawn once with `seed`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    positions: int
    shape: tuple[int, ...]
    seed: int


@dataclass(frozen=True, kw_only=True)
class GoldenFacts:
    """What `golden.json` holds.

    Attributes:
        name: The model.
        weights_sha256: Digest of its weights.
        code_sha256: Digest of everything else that it is made of.
        samples_sha256: Digest of all held-out samples, in order.
        samples_n: How many there were.
        kept: Indices of the held-out samples whose reference outputs are kept.
        kept_digests: Digests of those samples' inputs, which they are found again by.
        outputs: Dtype by name of every output that is kept.
        unkept: Outputs that are not kept, and why.
        subset: Outputs of which only some positions are kept, where not even one sample fits.
        outputs_sha256: Digest of `outputs.safetensors`.
        machine: Class of the machine that the outputs were recorded on.
        ratios: Worst error ratio by target, in floors.
        agreement: Lowest top-1 agreement by target.
        latency: Ratio to eager, by machine class, target and batch size.
        versions: Versions of the packages that made it.
        schema: `GOLDEN_SCHEMA`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    name: str
    weights_sha256: str
    code_sha256: str
    samples_sha256: str
    samples_n: int
    kept: tuple[int, ...]
    kept_digests: tuple[str, ...]
    outputs: Mapping[str, str] = field(default_factory=dict)
    unkept: Mapping[str, str] = field(default_factory=dict)
    subset: Mapping[str, Subset] = field(default_factory=dict)
    outputs_sha256: str = ""
    machine: str = ""
    ratios: Mapping[str, float] = field(default_factory=dict)
    agreement: Mapping[str, float] = field(default_factory=dict)
    latency: Mapping[str, Mapping[str, Mapping[str, LatencyRatio]]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    schema: str = GOLDEN_SCHEMA


@dataclass(frozen=True, kw_only=True)
class Golden(GoldenFacts):
    """The approved state of one model: the facts, and the arrays of `outputs.safetensors` by key.

    `tensors` are keyed as `parity.golden.kept` describes; they are not compared by `==`, their digest is.
    """

    tensors: Mapping[str, Array] = field(default_factory=dict, compare=False, repr=False)
