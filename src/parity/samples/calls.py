"""Which samples go into which call: all held-out ones once, then one call for each batch size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from parity.arrays import Array
from parity.models.signature import Dim

BATCH_SIZES = (1, 2, 3, 8, 32)
"""The sweep where nothing else is asked for: one, the example's, an odd one, a usual one, a large one."""

ALWAYS_SWEPT = (1, 3)
"""Batch sizes that are called whatever is asked for: others may all be what an export was bound to."""

HELD_OUT_BATCH = 8
"""Batch size of the pass over all held-out samples: neither the example's nor 1."""

EXAMPLE_BATCH = 2
"""Batch size of the export example: torch.export treats 0 and 1 specially, and 2 hides least."""


AGAIN, LAST = "~again", "~last"
"""What the first call is stored under, after its id, when it is made twice in a row and after all others."""


@dataclass(frozen=True)
class Call:
    """One call of the model.

    Attributes:
        id: What its outputs are stored under.
        samples: Indices of the samples that are stacked, the filler last.
        sweep: The batch size that it stands for in the sweep, or None for a held-out call.
        sizes: Size of every symbol but the batch, where the call stands for those as well.
        filler: How many of the last samples only fill the call up to a batch size that the signature
            allows. Their outputs are not kept.
    """

    id: str
    samples: tuple[int, ...]
    sweep: int | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    filler: int = 0

    @property
    def judged(self) -> tuple[int, ...]:
        """The samples whose outputs are kept."""
        return self.samples[: len(self.samples) - self.filler]


def held_out_calls(calls: Iterable[Call]) -> list[Call]:
    """The calls that a verdict over all samples is reached on: every sample once, and no shape of the sweep."""
    return [call for call in calls if call.sweep is None]


def kept(outputs: Mapping[str, Array], call: Call) -> dict[str, Array]:
    """What is kept of a call's outputs: where the first axis counts samples, the filler is cut off."""
    return {
        name: array[: len(call.judged)] if call.filler and array.ndim and len(array) == len(call.samples) else array
        for name, array in outputs.items()
    }


def own_noise_id(call: Call) -> str:
    """What more draws of the reference's own error in a call of sizes of its own are stored under."""
    return f"{call.id}~own"


def plan_calls(shapes: Sequence[int], batch_sizes: Sequence[int], batch: Dim | None) -> tuple[Call, ...]:
    """Calls over samples whose `shapes` numbers say which can be stacked.

    Every sample is held out in exactly one call without `sweep`. Each batch size that `batch` allows then
    gets a call of its own; where there are fewer samples of a shape than the batch, they are repeated.
    Without a batch dimension (`batch` is None) every call is one sample and there is no batch to sweep.
    """
    groups: dict[int, list[int]] = {}
    for index, shape in enumerate(shapes):
        groups.setdefault(shape, []).append(index)
    if batch is None:
        alone = [sample for group in groups.values() for sample in group]
        return tuple(Call(f"h{number}", (sample,)) for number, sample in enumerate(alone))
    size = usual_batch(batch, HELD_OUT_BATCH)
    chunks = [group[start : start + size] for group in groups.values() for start in range(0, len(group), size)]
    calls = [_held_out(f"h{number}", chunk, batch) for number, chunk in enumerate(chunks)]
    ordered = sorted(groups.values(), key=len, reverse=True)
    for number, wanted in enumerate(filter(batch.admits, dict.fromkeys(batch_sizes))):
        group = ordered[number % len(ordered)]
        calls.append(Call(f"s{wanted}", _repeated(group, wanted), sweep=wanted))
    return tuple(calls)


def plan_example(shapes: Sequence[int], elements: Sequence[int], batch: Dim | None) -> tuple[int, ...]:
    """The samples of the export example, all of one shape: the middle one by number of `elements`.

    The smallest shape may have a dimension of 1, which exporters treat as a constant. A sample is
    repeated where it is alone in its shape.
    """
    groups: dict[int, list[int]] = {}
    for index, shape in enumerate(shapes):
        groups.setdefault(shape, []).append(index)
    by_size = sorted(groups.values(), key=lambda group: elements[group[0]])
    middle = by_size[len(by_size) // 2]
    if batch is None:
        return (middle[0],)
    size = batch.at_least(EXAMPLE_BATCH)
    return _repeated(middle, usual_batch(batch, EXAMPLE_BATCH) if size is None else size)


def usual_batch(batch: Dim, wanted: int) -> int:
    """The allowed batch size that is nearest to what is wanted: below it if there is one, else above."""
    return batch.at_most(wanted) or batch.at_least(wanted) or 1


def _held_out(name: str, chunk: Sequence[int], batch: Dim) -> Call:
    allowed = batch.at_least(len(chunk)) or len(chunk)
    return Call(name, _repeated(chunk, allowed), filler=allowed - len(chunk))


def _repeated(samples: Sequence[int], count: int) -> tuple[int, ...]:
    return tuple(samples[place % len(samples)] for place in range(count))
