"""Inputs that the signature excludes: what eager refuses there, a target has to refuse as well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from parity.arrays import Array
from parity.models.signature import Dim, Signature
from parity.samples.calls import EXAMPLE_BATCH, Call, usual_batch
from parity.samples.fitting import Sample
from parity.samples.made import make_sample, resized, symbol_sizes
from parity.samples.sizes import ALWAYS_REASONABLE, MAX_GROWTH
from parity.samples.store import StoredSamples

MAX_EXCLUDED = 6
"""Calls that eager is asked to refuse, and a target where it does."""


@dataclass(frozen=True)
class Excluded:
    """One call with an input that the signature excludes; `name` is the inputs' shapes in words."""

    call: Call
    name: str


@dataclass(frozen=True)
class _Other:
    """A sample of another shape, and how many of it make a call."""

    sample: Sample
    batch: int


def plan_excluded(stored: StoredSamples, signature: Signature, first: int) -> tuple[tuple[Excluded, ...], list[Sample]]:
    """Calls, and the samples that they are made of, whose indices begin at `first`.

    A fixed dimension is one larger, and 1, which broadcasting would hide; a symbol is beyond a bound, or no multiple
    of its step.
    """
    calls: list[Excluded] = []
    made: list[Sample] = []
    for other in _others(stored[0], signature):
        if len(calls) == MAX_EXCLUDED:
            break
        call = Call(f"x{len(calls)}", (first + len(made),) * other.batch)
        made.append(other.sample)
        calls.append(Excluded(call, _shapes(other, signature)))
    return tuple(calls), made


def _others(sample: Sample, signature: Signature) -> Iterator[_Other]:
    batch = signature.batch_dim
    usual = 1 if batch is None else usual_batch(batch, EXAMPLE_BATCH)
    skipped = 0 if batch is None else 1
    for spec in signature.inputs:
        fixed = [axis for axis, dim in enumerate(spec.dims[skipped:]) if dim.symbol is None]
        for axis in fixed[:1]:
            size = np.shape(sample[spec.name])[axis]
            for wrong in (size + 1, 1) if size > 1 else (size + 1,):
                changed = resized(np.asarray(sample[spec.name]), axis, wrong)
                yield _Other({**sample, spec.name: np.array(changed)}, usual)
    sizes = symbol_sizes(signature, sample)
    for name, dim in signature.symbols.items():
        if name == signature.batch:
            yield from (_Other(dict(sample), wrong) for wrong in _outside(dim, usual) if wrong)
        elif name in sizes:
            for wrong in _outside(dim, sizes[name]):
                yield _Other(make_sample(sample, signature, {**sizes, name: wrong}), usual)


def _outside(dim: Dim, usual: int) -> list[int]:
    """Sizes that are not allowed, near those that are."""
    wrong = [dim.low - 1] if dim.low > 1 else []
    if dim.high is not None and dim.high < max(MAX_GROWTH * usual, ALWAYS_REASONABLE):
        wrong.append(dim.high + 1)
    if dim.step > 1:
        wrong.append((dim.at_least(dim.low) or dim.low) + 1)
    return wrong


def _shapes(other: _Other, signature: Signature) -> str:
    return ", ".join(f"{name} {list(_shape(other.sample[name], other, signature))}" for name in signature.names)


def _shape(array: Array, other: _Other, signature: Signature) -> tuple[int, ...]:
    shape = tuple(np.shape(array))
    return shape if signature.batch is None else (other.batch, *shape)
