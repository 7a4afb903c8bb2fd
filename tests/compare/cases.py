"""A reference and a target made of plain arrays, for comparators and gates."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from parity.arrays import Array, ArrayReader, ArrayWriter, dtype_name
from parity.compare.floor import ReferenceArrays, Yardstick, measure_floor
from parity.compare.kinds import decided
from parity.compare.numeric import compare_held_out
from parity.compare.sets import set_groups
from parity.compare.sweep import compare_sweep
from parity.records import NumericFinding, OutputFacts, ReferenceFacts, ShapeFinding
from parity.samples.calls import Call

Calls = Mapping[str, Mapping[str, Array]]
"""Outputs by call and name."""

_NUMBER = itertools.count()


def store(folder: Path, calls: Calls) -> ArrayReader:
    name = f"arrays{next(_NUMBER)}"
    with ArrayWriter(folder, name) as writer:
        for call, outputs in calls.items():
            writer.put_all(call, outputs)
    return ArrayReader(folder, name)


@dataclass(frozen=True)
class Case:
    """A stored reference that targets can be held against."""

    folder: Path
    calls: tuple[Call, ...]
    facts: ReferenceFacts
    arrays: ReferenceArrays
    yardsticks: dict[str, Yardstick]

    def findings(self, target: Calls) -> tuple[NumericFinding, ...]:
        return compare_held_out(store(self.folder, target), self.arrays, self.yardsticks, self.calls)

    def finding(self, *target: Array) -> NumericFinding:
        """The finding on the only output `y`, from what the target returned in each held-out call."""
        (found,) = self.findings({f"h{number}": {"y": array} for number, array in enumerate(target)})
        return found

    def sweep(self, target: Calls, failed: Mapping[str, str] | None = None) -> tuple[ShapeFinding, ...]:
        return compare_sweep(store(self.folder, target), self.arrays, self.yardsticks, self.calls, failed or {})


def case(
    folder: Path,
    eager: Sequence[Array],
    exact: Sequence[Array] | None = None,
    *,
    sweep: Mapping[int, tuple[Array, Array]] | None = None,
    copies: Sequence[tuple[Array, Array]] = (),
    batched: bool = True,
    oracle: str = "float64",
    longest: int = 1,
    decision: Sequence[tuple[str, str]] = (),
) -> Case:
    """One output `y`.

    Args:
        folder: Where the arrays go.
        eager: What the reference returned in each held-out call.
        exact: The same from the oracle; the reference's own numbers where it is left out.
        sweep: Reference and oracle by batch size.
        copies: Reference and oracle of jittered copies of the first call.
        batched: Whether the first axis counts samples.
        oracle: `float64` or `reordering`.
        longest: The longest reduction.
        decision: Kinds of decision that are given.
    """
    exact = list(exact) if exact is not None else [wide(array) for array in eager]
    counts = [len(array) if batched else 1 for array in eager]
    starts = list(itertools.accumulate([0, *counts]))
    calls = [Call(f"h{n}", tuple(range(starts[n], starts[n] + count))) for n, count in enumerate(counts)]
    calls += [Call(f"s{size}", tuple(n % starts[-1] for n in range(size)), sweep=size) for size in sweep or {}]
    ours = {f"h{n}": {"y": array} for n, array in enumerate(eager)}
    theirs = {f"h{n}": {"y": array} for n, array in enumerate(exact)}
    for size, (one, other) in (sweep or {}).items():
        ours[f"s{size}"], theirs[f"s{size}"] = {"y": one}, {"y": other}
    for number, (one, other) in enumerate(copies):
        ours[f"h0~{number}"], theirs[f"h0~{number}"] = {"y": one}, {"y": other}
    facts = ReferenceFacts(
        oracle=oracle,
        outputs=(OutputFacts(name="y", dtype=eager[0].dtype.name, shape=eager[0].shape, batched=batched),),
        longest_reduction=longest,
        jittered_copies=len(copies),
        seconds=0.0,
        threads=1,
    )
    stored = store(folder, ours)
    facts = decided(facts, stored, calls, decision)
    arrays = ReferenceArrays(stored, store(folder, theirs), set_groups(facts.outputs))
    return Case(folder, tuple(calls), facts, arrays, measure_floor(facts, arrays, calls))


def several(folder: Path, *eager: Mapping[str, Array]) -> Case:
    """Outputs of any names, one mapping for each held-out call; the oracle has the reference's own numbers.

    An output is batched where its first axis is as long as that of `y`, which every call has.
    """
    counts = [len(call["y"]) for call in eager]
    starts = list(itertools.accumulate([0, *counts]))
    calls = tuple(Call(f"h{n}", tuple(range(starts[n], starts[n] + count))) for n, count in enumerate(counts))
    first = {name: array for call in reversed(eager) for name, array in call.items()}
    outputs = tuple(
        OutputFacts(
            name=name,
            dtype=dtype_name(array),
            shape=array.shape,
            batched=all(name not in call or call[name].shape[:1] == call["y"].shape[:1] for call in eager),
        )
        for name, array in first.items()
    )
    facts = ReferenceFacts(
        oracle="float64", outputs=outputs, longest_reduction=1, jittered_copies=0, seconds=0.0, threads=1
    )
    ours = {f"h{n}": call for n, call in enumerate(eager)}
    exact = {name: {key: wide(array) for key, array in call.items()} for name, call in ours.items()}
    arrays = ReferenceArrays(store(folder, ours), store(folder, exact))
    return Case(folder, calls, facts, arrays, measure_floor(facts, arrays, calls))


def wide(array: Array) -> Array:
    kinds = {"f": np.float64, "c": np.complex128}
    return array.astype(kinds.get(array.dtype.kind, array.dtype))


def rounded(exact: Array, dtype: str, rng: np.random.Generator, ulps: float = 2.0) -> Array:
    """What arithmetic in `dtype` might have made of exact numbers: each off by a few roundings."""
    unit = float(np.finfo(np.dtype(dtype)).eps) / 2
    noise = rng.uniform(-ulps, ulps, exact.shape) * unit * np.abs(exact)
    made: Array = np.add(exact, noise).astype(dtype)
    return made


def eager(made: Case, call: str = "h0") -> Array:
    """What the reference returned in a call."""
    return np.array(made.arrays.eager.get(f"{call}/y"))


def exact(made: Case, call: str = "h0") -> Array:
    """What the oracle returned in a call."""
    return np.array(made.arrays.oracle.get(f"{call}/y"))


def swept(folder: Path) -> Case:
    """Eight held-out samples of four numbers, and the batch sizes 1, 2 and 3."""
    rng = np.random.default_rng(0)
    values = {size: rng.standard_normal((size, 4)) for size in (1, 2, 3, 8)}
    return case(
        folder,
        [rounded(values[8], "float32", rng)],
        [values[8]],
        sweep={size: (rounded(values[size], "float32", rng), values[size]) for size in (1, 2, 3)},
    )
