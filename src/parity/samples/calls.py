"""Which samples go into which call: all held-out ones once, then one call for each batch size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BATCH_SIZES = (1, 2, 3, 8, 32)
"""The sweep where nothing else is asked for: one, the example's, an odd one, a usual one, a large one."""

HELD_OUT_BATCH = 8
"""Batch size of the pass over all held-out samples: neither the example's nor 1."""

EXAMPLE_BATCH = 2
"""Batch size of the export example: torch.export treats 0 and 1 specially, and 2 hides least."""


@dataclass(frozen=True)
class Call:
    """One call of the model. `sweep` is the batch size that it stands for in the sweep, or None."""

    id: str
    samples: tuple[int, ...]
    sweep: int | None = None


def plan_calls(
    shapes: Sequence[int], batch_sizes: Sequence[int], *, batched: bool, largest: int | None = None
) -> tuple[Call, ...]:
    """Calls over samples whose `shapes` numbers say which can be stacked.

    Every sample is held out in exactly one call without `sweep`. Each batch size then gets a call of
    its own; where there are fewer samples of a shape than the batch, they are repeated. No held-out
    call is larger than `largest`, the most that the signature allows. Without a batch dimension every
    call is one sample and there is nothing to sweep.
    """
    groups: dict[int, list[int]] = {}
    for index, shape in enumerate(shapes):
        groups.setdefault(shape, []).append(index)
    size = min(HELD_OUT_BATCH, largest or HELD_OUT_BATCH) if batched else 1
    chunks = [group[start : start + size] for group in groups.values() for start in range(0, len(group), size)]
    calls = [Call(f"h{number}", tuple(chunk)) for number, chunk in enumerate(chunks)]
    if not batched:
        return tuple(calls)
    ordered = sorted(groups.values(), key=len, reverse=True)
    for number, batch in enumerate(dict.fromkeys(batch_sizes)):
        group = ordered[number % len(ordered)]
        calls.append(Call(f"s{batch}", tuple(group[place % len(group)] for place in range(batch)), sweep=batch))
    return tuple(calls)


def plan_example(shapes: Sequence[int], elements: Sequence[int], *, batched: bool) -> tuple[int, ...]:
    """The samples of the export example, all of one shape: the middle one by number of `elements`.

    The smallest shape may have a dimension of 1, which exporters treat as a constant. A sample is
    repeated where it is alone in its shape.
    """
    groups: dict[int, list[int]] = {}
    for index, shape in enumerate(shapes):
        groups.setdefault(shape, []).append(index)
    by_size = sorted(groups.values(), key=lambda group: elements[group[0]])
    middle = by_size[len(by_size) // 2]
    if not batched:
        return (middle[0],)
    return tuple(middle[place % len(middle)] for place in range(EXAMPLE_BATCH))
