"""What today's run offers a golden: the reference's outputs, sample by sample, and what made them."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import parity
from parity.arrays import Array, ArrayReader
from parity.compare.floor import ReferenceArrays, Yardstick
from parity.environment import versions
from parity.models.spec import ModelSpec
from parity.records import ModelFacts, OutputFacts, ReferenceFacts, SampleFacts
from parity.samples.calls import Call, held_out_calls


class Bench(Protocol):
    """What goldens need of a workbench."""

    @property
    def spec(self) -> ModelSpec:
        """The model."""

    def evidence(self) -> Evidence:
        """Today's reference; raises ModelError or SampleError where it cannot be had."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The reference of one run, and which sample is where in it.

    Attributes:
        model: The model as it was built.
        samples: The held-out samples.
        reference: The reference's outputs, and whether it is stable.
        machine: The class of the machine.
        device: What the targets ran on.
        toolchain: Versions by package.
        arrays: Eager and oracle outputs by call.
        yardsticks: What each output's errors are measured with.
        calls: The calls that were made.
        digests: Digest of each held-out sample's inputs, by its index.
        batched: Whether the model takes batches; otherwise a call is one sample.
    """

    model: ModelFacts
    samples: SampleFacts
    reference: ReferenceFacts
    machine: str
    toolchain: Mapping[str, str]
    arrays: ReferenceArrays
    yardsticks: Mapping[str, Yardstick]
    calls: Sequence[Call]
    digests: Sequence[str]
    batched: bool
    device: str = "cpu"

    def separable(self, output: OutputFacts) -> bool:
        """Whether the output has a part for each sample, whatever else is in the batch."""
        return output.batched or not self.batched

    def part(self, reader: ArrayReader, name: str, sample: int) -> Array | None:
        """One sample's part of an output, without the batch axis; None where its call does not return it."""
        call, row = self._places[sample]
        key = f"{call.id}/{name}"
        if key not in reader:
            return None
        array = reader.get(key)
        return array[row] if self.batched else array

    def parts(self, outputs: Iterable[OutputFacts], sample: int) -> dict[str, Array]:
        """Eager outputs of one sample by name."""
        found = {output.name: self.part(self.arrays.eager, output.name, sample) for output in outputs}
        return {name: array for name, array in found.items() if array is not None}

    def as_call(self, part: Array) -> Array:
        """The same part as a call of this one sample returns it."""
        return part[None] if self.batched else part

    @cached_property
    def _places(self) -> dict[int, tuple[Call, int]]:
        held_out = held_out_calls(self.calls)
        return {sample: (call, row) for call in held_out for row, sample in enumerate(call.judged)}


def toolchain() -> dict[str, str]:
    """Versions of what an output or an error may depend on; imports none of the packages."""
    return {**versions(), "python": platform.python_version(), "parity": parity.__version__}
