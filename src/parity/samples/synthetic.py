"""Samples of last resort, drawn from a seed: nearer to real inputs than white noise, and weak evidence all the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from parity.arrays import Array
from parity.models.signature import DTYPES, Dim, InputSpec, Signature
from parity.samples.fitting import Sample
from parity.samples.roles import Role, channel_axis, role_of
from parity.samples.spectra import natural_image, natural_sound

SYNTHETIC_COUNT = 64

_SPAN = 16
"""How far the sizes of a symbol without an upper bound reach above the lower one."""

_TOKENS = 16
"""A range of that many integers is taken for a vocabulary, in which few are frequent and most are rare."""


@dataclass(frozen=True)
class _Drawing:
    """What all inputs of one sample share: sizes by symbol, and how much of each size is filled."""

    rng: np.random.Generator
    sizes: Mapping[str, int]
    filled: dict[int, int]

    def size(self, dim: Dim) -> int:
        return self.sizes[dim.symbol] if dim.symbol else dim.size or 0

    def fill(self, size: int) -> int:
        """How many places of a row of this size are filled, the same for every input of the sample."""
        return self.filled.setdefault(size, int(self.rng.integers(1, size + 1)) if size else 0)

    def bounds(self, spec: InputSpec, low: float, high: float) -> tuple[float, float]:
        """The range of an input's values, or these where it has none."""
        return self._bound(spec.low, low), self._bound(spec.high, high)

    def _bound(self, bound: str | None, default: float) -> float:
        if bound is None:
            return default
        return self.sizes[bound] if bound in self.sizes else float(bound)


def synthetic_samples(signature: Signature, seed: int = 0) -> Iterator[Sample]:
    """Seeded random samples that fit the signature: weak evidence, for want of anything better.

    Images and sounds have the spectra of natural ones (see `spectra`), about mean 0 and standard deviation 1, or
    within the range that the signature gives. Integers are within their range: many small ones and few large ones
    where it is a vocabulary, else all alike. Masks are ones, then zeros, as long as the lengths beside them say;
    other floats are standard normal. Every symbolic dimension other than the batch takes a few sizes between its
    bounds.
    """
    rng = np.random.default_rng(seed)
    free = {name: dim for name, dim in signature.symbols.items() if name != signature.batch}
    for index in range(SYNTHETIC_COUNT):
        sizes = {name: _size(dim.low, dim.high or dim.low + _SPAN, dim.step, index) for name, dim in free.items()}
        drawing = _Drawing(rng, sizes, {})
        sample: dict[str, Array] = {}
        for spec in signature.inputs:
            dims = spec.dims[1:] if signature.batch else spec.dims
            sample[spec.name] = np.asarray(_draw(drawing, spec, dims, signature))
        yield sample


def _size(low: int, high: int, step: int, index: int) -> int:
    spread = np.linspace(low, high, 5)[index % 5]
    return max(step * int(spread // step), -(-low // step) * step)


def _draw(drawing: _Drawing, spec: InputSpec, dims: tuple[Dim, ...], signature: Signature) -> Array:
    shape = tuple(map(drawing.size, dims))
    kind = np.dtype(DTYPES[spec.dtype])
    role = role_of(spec, dims)
    if 0 in shape:
        return np.zeros(shape, kind)
    if role in (Role.MASK, Role.PADDING, Role.SEGMENTS, Role.POSITIONS):
        return _along_last(drawing, spec, shape, role).astype(kind)
    if role is Role.LENGTH:
        return _length(drawing, spec, shape, signature).astype(kind)
    if kind.kind in "iub" and role is Role.NUMBERS:
        return _integers(drawing, spec, shape).astype(kind)
    if role is Role.NUMBERS:
        values = drawing.rng.standard_normal(shape)
        if kind.kind == "c":
            return (values + 1j * drawing.rng.standard_normal(shape)).astype(kind)
    elif role is Role.IMAGE:
        values = natural_image(drawing.rng, shape, channel_axis(dims))
    else:
        values = natural_sound(drawing.rng, shape)
    return _within(drawing, spec, values, kind)


def _within(drawing: _Drawing, spec: InputSpec, values: Array, kind: np.dtype[np.generic]) -> Array:
    """Values as they are, or bent into their range by the normal distribution, which leaves their order."""
    if spec.low is None and kind.kind == "f":
        return values.astype(kind)
    low, high = drawing.bounds(spec, 0, 255)
    bent: Array = np.clip(low + (high - low) * ndtr(values), low, high)
    return (np.rint(bent) if kind.kind in "iu" else bent).astype(kind)


def _along_last(drawing: _Drawing, spec: InputSpec, shape: tuple[int, ...], role: Role) -> Array:
    """Masks, segments and positions: the same row, however many axes lie before it."""
    low, high = drawing.bounds(spec, 0, shape[-1] - 1 if role is Role.POSITIONS else 1)
    places = np.arange(shape[-1])
    filled = drawing.fill(shape[-1])
    if role is Role.POSITIONS:
        row = low + places % (high - low + 1)
    elif role is Role.SEGMENTS:
        begin = int(drawing.rng.integers(1, filled + 1))
        row = np.where((places >= begin) & (places < filled), high, low)
    else:
        row = np.where((places < filled) == (role is Role.MASK), high, low)
    return np.broadcast_to(row, shape)


def _length(drawing: _Drawing, spec: InputSpec, shape: tuple[int, ...], signature: Signature) -> Array:
    """How much of the sequence is filled that the upper bound names, or else of the first one there is."""
    sizes = drawing.sizes
    named = spec.high if spec.high in sizes else next(iter(sizes), None) if spec.high is None else None
    if named is None:
        fixed = [dim.size for other in signature.inputs for dim in other.dims[1:] if dim.size and other is not spec]
        low, high = drawing.bounds(spec, 1, fixed[0] if fixed else 1)
        size = next((each for each in fixed if each == int(high)), None)
    else:
        low, high = drawing.bounds(spec, 1, sizes[named])
        size = sizes[named]
    if size:
        return np.full(shape, min(max(drawing.fill(size), int(low)), int(high)))
    return np.asarray(drawing.rng.integers(int(low), int(high) + 1, shape))


def _integers(drawing: _Drawing, spec: InputSpec, shape: tuple[int, ...]) -> Array:
    low, high = map(int, drawing.bounds(spec, 0, 1))
    span = high - low + 1
    if not shape or span < _TOKENS:
        return np.asarray(drawing.rng.integers(low, high + 1, shape))
    # Zipf's law, P(k) ~ 1/k, by inverting the logarithm that is its sum.
    ranks = np.floor(np.exp(drawing.rng.random(shape) * np.log(span + 1))).astype(np.int64) - 1
    tokens: Array = low + np.clip(ranks, 0, span - 1)
    return tokens
