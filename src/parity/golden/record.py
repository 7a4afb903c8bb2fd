"""A golden: what was approved at the last release, as plain files in `golden/NAME/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Golden:
    """The approved state of one model.

    Attributes:
        name: The model.
        weights_sha256: Digest of its weights.
        code_sha256: Digest of everything else that it is made of.
        samples_sha256: Digest of all held-out samples.
        kept: Indices of the held-out samples whose reference outputs are kept.
        kept_digests: Digests of those samples' inputs.
        ratios: Worst error ratio by target.
        agreement: Top-1 agreement by target.
        latency: Ratio to eager, by machine class, target and batch size.
        versions: Versions of the packages that made it.
    """

    name: str
    weights_sha256: str
    code_sha256: str
    samples_sha256: str
    kept: tuple[int, ...]
    kept_digests: tuple[str, ...]
    ratios: Mapping[str, float] = field(default_factory=dict)
    agreement: Mapping[str, float] = field(default_factory=dict)
    latency: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
