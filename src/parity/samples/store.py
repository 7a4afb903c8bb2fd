"""The samples of one run on disk: written once, then memory-mapped by every process that needs them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np

from parity.arrays import Array, ArrayReader, ArrayWriter, digest
from parity.errors import SampleError
from parity.models.signature import Signature
from parity.samples.fitting import Sample
from parity.samples.rows import GatheredLabels, Labels

_SAMPLES = "samples"
_MADE = "made"
_SET = "set"
"""Where what is known of all samples lies, beside the numbers of the samples themselves."""

_DIGEST = hashlib.sha256().digest_size


class Digests(Sequence[str]):
    """SHA-256 of each sample's inputs as hexadecimal text, kept as bytes: 32 of them a sample.

    Args:
        digests: One after the other, uint8[n * 32].
    """

    def __init__(self, digests: Array) -> None:
        self._bytes = digests

    def __len__(self) -> int:
        return len(self._bytes) // _DIGEST

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        start = range(len(self))[index] * _DIGEST
        return self._bytes[start : start + _DIGEST].tobytes().hex()


@dataclass(frozen=True)
class SampleSet:
    """What was written: the number of samples, their digest, each one's digest, the shapes.

    `shapes[i]` identifies samples that can be stacked: equal numbers mean equal shapes.
    """

    n: int
    sha256: str
    digests: Digests
    shapes: tuple[int, ...]
    labelled: bool


def write_samples(
    folder: Path, samples: Iterable[Sample], signature: Signature, labels: Labels | None, where: str
) -> SampleSet:
    """Check every sample against the signature and write it, holding one at a time.

    Raises:
        SampleError: one does not fit, there is none at all, or the labels are not as many.
    """
    digests = bytearray()
    whole = hashlib.sha256()
    kinds: dict[tuple[tuple[int, ...], ...], int] = {}
    shapes: list[int] = []
    with ArrayWriter(folder, _SAMPLES) as writer:
        for index, sample in enumerate(samples):
            signature.check(sample, f"{where}, sample {index}")
            inputs = {name: np.asarray(sample[name]) for name in signature.names}
            writer.put_all(str(index), inputs)
            sha = hashlib.sha256("".join(map(digest, inputs.values())).encode())
            digests += sha.digest()
            whole.update(sha.hexdigest().encode())
            shapes.append(kinds.setdefault(tuple(array.shape for array in inputs.values()), len(kinds)))
        if not shapes:
            raise SampleError("there is not one sample", where=where)
        known_labels = labels.whole() if isinstance(labels, GatheredLabels) else labels
        if known_labels is not None and len(known_labels) != len(shapes):
            raise SampleError("there are not as many labels as samples", where=where, got=f"{len(known_labels)} labels",
                              allowed=str(len(shapes)))  # fmt: skip
        known = np.frombuffer(digests, np.uint8)
        writer.put_all(_SET, {"shapes": np.asarray(shapes, np.int64), "digests": known})
        if known_labels is not None:
            writer.put(f"{_SET}/labels", known_labels)
    return SampleSet(len(shapes), whole.hexdigest(), Digests(known), tuple(shapes), known_labels is not None)


def write_made(folder: Path, samples: Iterable[Sample], first: int) -> None:
    """Write samples beside the `first` held-out ones of a folder, to be had under the indices that follow theirs."""
    with ArrayWriter(folder, _MADE) as writer:
        for index, sample in enumerate(samples, first):
            writer.put_all(str(index), {name: np.asarray(array) for name, array in sample.items()})


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
    """Reads what `write_samples` wrote, and `write_made` beside it.

    Its length, shapes, digests and labels are of the held-out samples alone.
    """

    def __init__(self, folder: Path, signature: Signature) -> None:
        self._reader = ArrayReader(folder, _SAMPLES)
        self._made = ArrayReader(folder, _MADE) if (folder / f"{_MADE}.bin").exists() else None
        self._signature = signature
        about = self._reader.get_all(_SET)
        self.shapes: tuple[int, ...] = tuple(about["shapes"].tolist())
        self.digests = Digests(about["digests"])
        self.labels: Array | None = about.get("labels")

    def __len__(self) -> int:
        return len(self.shapes)

    def __getitem__(self, index: int) -> Sample:
        reader = self._reader if index < len(self) or self._made is None else self._made
        return {name: reader.get(f"{index}/{name}") for name in self._signature.names}

    def batch(self, indices: Sequence[int]) -> dict[str, Array]:
        """Inputs of one call: samples stacked along a leading axis, fresh copies that may be written to.

        Without a batch dimension the call is the one sample itself.
        """
        if self._signature.batch is None:
            (index,) = indices
            return {name: np.array(array) for name, array in self[index].items()}
        chosen = [self[index] for index in indices]
        return {name: np.stack([sample[name] for sample in chosen]) for name in self._signature.names}
