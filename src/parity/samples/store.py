"""The samples of one run on disk: written once, then memory-mapped by every process that needs them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from parity.arrays import Array, ArrayReader, ArrayWriter, digest
from parity.errors import SampleError
from parity.models.signature import Signature
from parity.samples.sources import Sample


@dataclass(frozen=True)
class SampleSet:
    """What was written: the number of samples, their digest, each one's digest, the shapes.

    `shapes[i]` identifies samples that can be stacked: equal numbers mean equal shapes.
    """

    n: int
    sha256: str
    digests: tuple[str, ...]
    shapes: tuple[int, ...]
    labelled: bool


def write_samples(
    folder: Path, samples: Iterable[Sample], signature: Signature, labels: Array | None, where: str
) -> SampleSet:
    """Check every sample against the signature and write it.

    Raises:
        SampleError: one does not fit, there is none at all, or the labels are not as many.
    """
    digests: list[str] = []
    kinds: dict[tuple[tuple[int, ...], ...], int] = {}
    shapes: list[int] = []
    with ArrayWriter(folder, "samples") as writer:
        for index, sample in enumerate(samples):
            signature.check(sample, f"{where}, sample {index}")
            inputs = {name: np.asarray(sample[name]) for name in signature.names}
            writer.put_all(str(index), inputs)
            digests.append(hashlib.sha256("".join(map(digest, inputs.values())).encode()).hexdigest())
            shapes.append(kinds.setdefault(tuple(array.shape for array in inputs.values()), len(kinds)))
        if labels is not None:
            writer.put("labels/labels", labels)
    if not digests:
        raise SampleError("there is not one sample", where=where)
    if labels is not None and len(labels) != len(digests):
        raise SampleError("there are not as many labels as samples", where=where, got=f"{len(labels)} labels",
                          allowed=str(len(digests)))  # fmt: skip
    whole = hashlib.sha256("".join(digests).encode()).hexdigest()
    written = SampleSet(len(digests), whole, tuple(digests), tuple(shapes), labels is not None)
    (folder / "set.json").write_text(json.dumps({"shapes": shapes, "digests": digests, "labelled": written.labelled}))
    return written


def check_disjoint(held_out: SampleSet, calibration: SampleSet, where: str) -> None:
    """Calibration on held-out samples would judge a target by what it was fitted to.

    Raises:
        SampleError: some are the same; the message names how many and the first.
    """
    known = set(calibration.digests)
    shared = [index for index, each in enumerate(held_out.digests) if each in known]
    if shared:
        raise SampleError(
            f"{len(shared)} held-out samples are also among the calibration samples (the first is {shared[0]})",
            where=where,
            allowed="two disjoint sets",
            hint="calibrate on samples that the verdict is not reached on",
        )


class StoredSamples:
    """Reads what `write_samples` wrote."""

    def __init__(self, folder: Path, signature: Signature) -> None:
        self._reader = ArrayReader(folder, "samples")
        self._signature = signature
        about = json.loads((folder / "set.json").read_text())
        self.shapes: tuple[int, ...] = tuple(about["shapes"])
        self.digests: tuple[str, ...] = tuple(about["digests"])
        self.labels: Array | None = self._reader.get("labels/labels") if about["labelled"] else None

    def __len__(self) -> int:
        return len(self.shapes)

    def __getitem__(self, index: int) -> Sample:
        return {name: self._reader.get(f"{index}/{name}") for name in self._signature.names}

    def batch(self, indices: Sequence[int]) -> dict[str, Array]:
        """Inputs of one call: samples stacked along a leading axis, fresh copies that may be written to.

        Without a batch dimension the call is the one sample itself.
        """
        if self._signature.batch is None:
            (index,) = indices
            return {name: np.array(array) for name, array in self[index].items()}
        chosen = [self[index] for index in indices]
        return {name: np.stack([sample[name] for sample in chosen]) for name in self._signature.names}
