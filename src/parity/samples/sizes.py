"""Which sizes of the signature's symbols are swept, and which of them together in one call."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parity.models.signature import Dim, Signature
from parity.samples.calls import ALWAYS_SWEPT

MAX_CALLS = 12
"""Calls beside the plain batch sizes: enough for every pair of a few sizes of three symbols."""

MAX_SIZES = 6
"""Sizes of one symbol: its lowest, its highest or one beyond every sample, and some between."""

MAX_ELEMENTS = 1 << 20
"""Numbers in the inputs of one such call, or as many as the largest sample has: a megapixel, 4 MB in float32."""

MAX_GROWTH = 8
"""How many times the largest size of a sample a size may be. Attention takes the square of it in memory."""

ALWAYS_REASONABLE = 64
"""A size up to here is swept however small the samples are."""

_PRIMES = (2, 3, 5, 7, 11, 13)


@dataclass(frozen=True)
class SizedCall:
    """What one call of the sweep is to be: its batch size, and the size of every other symbol."""

    batch: int
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class SizePlan:
    """The calls, and in words what the signature allows and no call has."""

    calls: tuple[SizedCall, ...]
    left_out: tuple[str, ...] = ()


def plan_batches(asked: Sequence[int], batch: Dim, largest: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The allowed batch sizes among those asked for, those always swept, and the bounds; and what is left out.

    The high bound is left out where a call of it has too many numbers: it may be there for good measure only.
    `largest` says how many numbers the largest sample has.
    """
    lowest, highest = batch.at_least(max(batch.low, 1)), None if batch.high is None else batch.at_most(batch.high)
    sizes = [*filter(batch.admits, asked), *filter(batch.admits, ALWAYS_SWEPT), *([lowest] if lowest else [])]
    most = max(*sizes, min(MAX_GROWTH * max(sizes), MAX_ELEMENTS // max(largest, 1)))
    if highest is None or highest <= most:
        return tuple(dict.fromkeys([*sizes, *([highest] if highest else [])])), ()
    return tuple(dict.fromkeys(sizes)), (f"{batch.symbol}={highest}, the bound, has too many numbers: not run",)


def plan_sizes(signature: Signature, known: Sequence[Mapping[str, int]], largest: int) -> SizePlan:
    """Calls that have every pair of the chosen sizes of two symbols, the batch among them.

    Args:
        signature: What is allowed.
        known: The sizes that held-out samples have.
        largest: How many numbers the largest of them has.
    """
    free = {name: dim for name, dim in signature.symbols.items() if name != signature.batch}
    if not free:
        return SizePlan(())
    chosen: list[Sequence[int]] = []
    left_out: list[str] = []
    for name, dim in free.items():
        seen = {sizes[name] for sizes in known}
        cap = max(MAX_GROWTH * max(seen), ALWAYS_REASONABLE)
        chosen.append(choose_sizes(dim, seen, cap)[:MAX_SIZES])
        if dim.high is not None and dim.high > cap:
            left_out.append(f"{name}={dim.high}, the bound, is more than {MAX_GROWTH} times any sample: not run")
    batch = signature.symbols[signature.batch] if signature.batch else None
    batches = [size for size in (batch.at_least(each) for each in ALWAYS_SWEPT) if size] if batch else [1]
    rows = _within(MAX_CALLS, [tuple(dict.fromkeys(batches)), *chosen])
    calls: list[SizedCall] = []
    limit = max(MAX_ELEMENTS, largest)
    for row in rows:
        sizes = dict(zip(free, row[1:], strict=True))
        fitting = [size for size in (row[0], min(batches)) if size * _elements(signature, sizes) <= limit]
        if fitting:
            calls.append(SizedCall(fitting[0], sizes))
        else:
            left_out.append(f"{written(sizes)} has more than {limit:,} numbers: not run")
    return SizePlan(tuple(calls), tuple(left_out))


def choose_sizes(dim: Dim, seen: set[int], cap: int) -> list[int]:
    """Allowed sizes up to `cap`, what tells most first.

    The lowest, the highest or one beyond every sample, a small prime that no sample has, twice the step,
    then more of these. With a step all are multiples of it: one of them is a size that no sample has.
    """
    lowest = dim.at_least(dim.low)
    beyond = _beyond(dim, max(seen))
    highest = dim.at_most(cap) if dim.high is not None else beyond
    primes = [prime * dim.step for prime in _PRIMES]
    odd = [size for size in primes[1:] if size not in seen]
    after = [] if lowest is None else [lowest + dim.step, lowest + 2 * dim.step, lowest + 5 * dim.step]
    wanted = [lowest, highest, *odd[:1], dim.step, 2 * dim.step, *after[:1], beyond, *odd[1:], *after[1:]]
    return [size for size in dict.fromkeys(wanted) if size is not None and dim.admits(size) and size <= cap]


def _beyond(dim: Dim, largest: int) -> int | None:
    """The next allowed size above every sample's, a prime number of steps where the bound leaves room."""
    count = largest // dim.step + 1
    while any(count % factor == 0 for factor in range(2, math.isqrt(count) + 1)):
        count += 1
    return count * dim.step if dim.admits(count * dim.step) else dim.at_least(largest + 1)


def written(sizes: Mapping[str, int]) -> str:
    """`H=32, W=64`."""
    return ", ".join(f"{name}={size}" for name, size in sizes.items())


def _within(most: int, values: list[Sequence[int]]) -> list[tuple[int, ...]]:
    """A cover by no more calls than that; the last sizes of the symbol that has most go first."""
    while len(rows := pairwise(values)) > most and max(map(len, values)) > 1:
        longest = max(range(len(values)), key=lambda place: len(values[place]))
        values = [each[:-1] if place == longest else each for place, each in enumerate(values)]
    return rows[:most]


def pairwise(values: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Rows with one value of each list, such that any two values of two lists are together in one of them.

    Greedy: a row starts from a pair that is still missing, and every further value is the one that adds
    most missing pairs. One list alone gives a row for each of its values.
    """
    if len(values) == 1:
        return [(value,) for value in values[0]]
    missing = dict.fromkeys(
        ((one, left), (other, right))
        for (one, lefts), (other, rights) in itertools.combinations(enumerate(values), 2)
        for left, right in itertools.product(lefts, rights)
    )
    rows: list[tuple[int, ...]] = []
    while missing:
        row = dict(next(iter(missing)))
        for place, candidates in enumerate(values):
            if place not in row:
                gains = {
                    value: sum(_pair(place, value, each) in missing for each in row.items()) for value in candidates
                }
                row[place] = max(gains, key=gains.__getitem__)
        rows.append(tuple(row[place] for place in range(len(values))))
        for pair in itertools.combinations(enumerate(rows[-1]), 2):
            missing.pop(pair, None)
    return rows


def _pair(place: int, value: int, other: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    return ((place, value), other) if place < other[0] else (other, (place, value))


def _elements(signature: Signature, sizes: Mapping[str, int]) -> int:
    """How many numbers all inputs of one sample have."""
    skipped = 0 if signature.batch is None else 1
    return sum(
        math.prod(sizes[dim.symbol] if dim.symbol else dim.size or 0 for dim in spec.dims[skipped:])
        for spec in signature.inputs
    )
