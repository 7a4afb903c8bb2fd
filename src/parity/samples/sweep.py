"""Every call that is made of a model: held-out samples, batch sizes, and sizes of the other symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parity.models.signature import Signature
from parity.samples.calls import Call, plan_calls
from parity.samples.fitting import Sample
from parity.samples.made import make_sample, nearest, symbol_sizes
from parity.samples.sizes import SizedCall, plan_batches, plan_sizes
from parity.samples.store import StoredSamples


@dataclass(frozen=True)
class Sweep:
    """What is called.

    Attributes:
        calls: The held-out calls first, then the batch sizes, then the sizes of other symbols.
        made: Samples of sizes that no held-out sample has; their indices follow those of the held-out ones.
        left_out: Batch sizes that were asked for and that the signature does not allow.
        notes: What the signature allows and is not called, with the reason.
    """

    calls: tuple[Call, ...]
    made: tuple[Sample, ...]
    left_out: tuple[int, ...]
    notes: tuple[str, ...]


def plan_sweep(stored: StoredSamples, signature: Signature, asked: Sequence[int], largest: int) -> Sweep:
    """The calls over stored samples.

    Args:
        stored: The held-out samples.
        signature: Which dimensions they may differ in.
        asked: Batch sizes that get a call each.
        largest: How many numbers the largest sample has.
    """
    batch = signature.batch_dim
    batches, notes = ((), ()) if batch is None else plan_batches(asked, batch, largest)
    members: dict[int, list[int]] = {}
    for index, shape in enumerate(stored.shapes):
        members.setdefault(shape, []).append(index)
    groups = [(symbol_sizes(signature, stored[each[0]]), each) for each in members.values()]
    plan = plan_sizes(signature, [sizes for sizes, _ in groups], largest)
    made: list[Sample] = []
    sized: list[Call] = []
    for number, each in enumerate(plan.calls):
        samples = []
        for index in nearest(groups, each.sizes, each.batch, turn=number):
            if symbol_sizes(signature, stored[index]) == dict(each.sizes):
                samples.append(index)
                continue
            samples.append(len(stored) + len(made))
            made.append(make_sample(stored[index], signature, each.sizes))
        sized.append(_sized(number, each, samples))
    return Sweep(
        calls=(*plan_calls(stored.shapes, batches, batch), *sized),
        made=tuple(made),
        left_out=tuple(size for size in dict.fromkeys(asked) if batch and not batch.admits(size)),
        notes=(*notes, *plan.left_out),
    )


def _sized(number: int, planned: SizedCall, samples: Sequence[int]) -> Call:
    return Call(f"t{number}", tuple(samples), sweep=planned.batch, sizes=tuple(planned.sizes.items()))
