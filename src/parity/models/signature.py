"""The named inputs of a model: dtype, shape with symbolic dimensions, and range of values.

The written form is `name: dtype[dims]`, optionally followed by `in low..high`:

    image: float32[N, 3, 224, 224]
    tokens: int64[N, T in 1..128] in 0..30521
    lengths: int64[N] in 1..T
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from parity.arrays import Array
from parity.errors import SampleError, UsageError, did_you_mean

DTYPES: Mapping[str, str] = {
    "float64": "<f8", "float32": "<f4", "float16": "<f2",
    "int64": "<i8", "int32": "<i4", "int16": "<i2", "int8": "|i1", "uint8": "|u1", "bool": "|b1",
    "complex64": "<c8", "complex128": "<c16",
}  # fmt: skip
"""The dtypes an input can have, and how NumPy writes them."""

_SPEC = re.compile(
    r"^\s*(?P<name>[A-Za-z_][\w.]*)\s*:\s*(?P<dtype>\w+)\s*\[(?P<dims>[^\]]*)\]"
    r"\s*(?:in\s+(?P<low>[-+\w.]+?)\s*\.\.\s*(?P<high>[-+\w.]+))?\s*$"
)
_DIM = re.compile(
    r"^(?P<symbol>[A-Za-z_]\w*)(?:\s+in\s+(?P<low>\d+)\s*\.\.\s*(?P<high>\d+)?)?(?:\s+step\s+(?P<step>\d+))?$"
)
_FORM = "name: dtype[dims] such as `image: float32[N, 3, 224, 224]` or `tokens: int64[N, T in 1..128] in 0..99`"


@dataclass(frozen=True)
class Dim:
    """One dimension: a number (`size`), or a symbol with inclusive bounds and a step."""

    size: int | None = None
    symbol: str | None = None
    low: int = 1
    high: int | None = None
    step: int = 1

    def __str__(self) -> str:
        if self.symbol is None:
            return str(self.size)
        bounded = self.high is not None or self.low != 1
        bounds = f" in {self.low}..{'' if self.high is None else self.high}" if bounded else ""
        return f"{self.symbol}{bounds}{f' step {self.step}' if self.step != 1 else ''}"

    def admits(self, size: int) -> bool:
        """Whether the signature allows this size."""
        if self.symbol is None:
            return size == self.size
        return size >= self.low and (self.high is None or size <= self.high) and size % self.step == 0

    def at_least(self, size: int) -> int | None:
        """The smallest size that is allowed and not below `size`, or None."""
        found = -(-max(size, self.low) // self.step) * self.step
        return found if self.admits(found) else None

    def at_most(self, size: int) -> int | None:
        """The largest size that is allowed and not above `size`, or None."""
        found = (size if self.high is None else min(size, self.high)) // self.step * self.step
        return found if self.admits(found) else None


@dataclass(frozen=True)
class InputSpec:
    """One named input. `low` and `high` bound integer values; each is a number or a symbol."""

    name: str
    dtype: str
    dims: tuple[Dim, ...]
    low: str | None = None
    high: str | None = None

    def __str__(self) -> str:
        values = f" in {self.low}..{self.high}" if self.low is not None else ""
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.dims))}]{values}"


@dataclass(frozen=True)
class Signature:
    """All inputs, in the order in which `forward` takes them.

    `batch` is the symbol of the leading dimension of every input, or None where an input has none:
    then a sample is a whole call and there is no batch to sweep.
    """

    inputs: tuple[InputSpec, ...]

    @property
    def batch(self) -> str | None:
        """The symbol of the batch dimension, or None."""
        leading = {spec.dims[0].symbol if spec.dims else None for spec in self.inputs}
        return leading.pop() if len(leading) == 1 else None

    @property
    def batch_dim(self) -> Dim | None:
        """The batch dimension with its bounds, or None."""
        return None if self.batch is None else self.symbols[self.batch]

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs' names in order."""
        return tuple(spec.name for spec in self.inputs)

    @property
    def symbols(self) -> dict[str, Dim]:
        """Every symbolic dimension, with the bounds given where it is first bounded."""
        found: dict[str, Dim] = {}
        for dim in (dim for spec in self.inputs for dim in spec.dims):
            if dim.symbol is not None and found.get(dim.symbol, plain := Dim(symbol=dim.symbol)) == plain:
                found[dim.symbol] = dim
        return found

    def check(self, sample: Mapping[str, Array], where: str) -> None:
        """Hold one sample (arrays without the batch axis, if there is one) against the signature.

        Raises:
            SampleError: a name, dtype, rank, size or integer does not fit; the message names the input.
        """
        missing = [name for name in self.names if name not in sample]
        if missing:
            raise SampleError(
                f"the samples have no input named {missing[0]!r}",
                where=where, allowed=", ".join(self.names), got=", ".join(sample) or "nothing",
            )  # fmt: skip
        sizes: dict[str, int] = {}
        for spec in self.inputs:
            self._check_input(spec, sample[spec.name], sizes, where)
        for spec in self.inputs:
            _check_values(spec, sample[spec.name], sizes, where)

    def _check_input(self, spec: InputSpec, array: Array, sizes: dict[str, int], where: str) -> None:
        got = f"{array.dtype.name}{list(array.shape)}"
        dims = spec.dims[1:] if self.batch else spec.dims
        allowed = f"{spec.dtype}[{', '.join(map(str, dims))}]{' in each sample' if self.batch else ''}"
        place = f"{where}, input {spec.name!r}"
        if array.dtype != np.dtype(DTYPES[spec.dtype]):
            raise SampleError(
                "the samples have another dtype than the signature", where=place, allowed=allowed, got=got
            )
        if array.ndim != len(dims):
            raise SampleError("the samples have another rank than the signature", where=place, allowed=allowed, got=got)
        for dim, size in zip(dims, array.shape, strict=True):
            known = self.symbols[dim.symbol] if dim.symbol else dim
            fits = known.admits(size) and sizes.setdefault(dim.symbol or "", size if dim.symbol else -1) in (size, -1)
            if not fits:
                raise SampleError("the samples do not fit the signature", where=place, allowed=allowed, got=got)


def _check_values(spec: InputSpec, array: Array, sizes: Mapping[str, int], where: str) -> None:
    """Integers have to lie in their range. That of real numbers says how synthetic ones are drawn, and no more."""
    if array.dtype.kind not in "iu" or not array.size or spec.low is None or spec.high is None:
        return
    low, high = (sizes.get(bound) if bound in sizes else _number(bound) for bound in (spec.low, spec.high))
    least, most = int(array.min()), int(array.max())
    if (low is not None and least < low) or (high is not None and most > high):
        raise SampleError(
            "the samples have values outside of the range of the signature", where=f"{where}, input {spec.name!r}",
            allowed=f"{spec.low}..{spec.high}", got=f"{least}..{most}",
            hint="widen the range in --input if the model takes them",
        )  # fmt: skip


def _number(bound: str) -> float | None:
    """A bound as a number, or None for a symbol."""
    try:
        return float(bound)
    except ValueError:
        return None


def parse_input(spec: str) -> InputSpec:
    """Read the written form of one input.

    Raises:
        UsageError: it cannot be read, or names a dtype that is not known.
    """
    match = _SPEC.match(spec)
    if match is None:
        raise UsageError("this input cannot be read", allowed=_FORM, got=spec)
    if match["dtype"] not in DTYPES:
        raise UsageError(f"there is no dtype {match['dtype']!r}", where=spec, hint=did_you_mean(match["dtype"], DTYPES))
    low, high = (None if match[end] is None else _number(match[end]) for end in ("low", "high"))
    if low is not None and high is not None and low > high:
        raise UsageError("the range of values holds none", where=spec, allowed="low..high", got=f"{low:g}..{high:g}")
    dims = tuple(_parse_dim(text.strip(), spec) for text in match["dims"].split(",") if text.strip())
    return InputSpec(match["name"], match["dtype"], dims, match["low"], match["high"])


def parse_signature(specs: str | Iterable[str]) -> Signature:
    """Read one written input or several.

    Raises:
        UsageError: one cannot be read, or two have the same name.
    """
    parsed = tuple(parse_input(spec) for spec in ([specs] if isinstance(specs, str) else specs))
    if not parsed:
        raise UsageError("the model has no inputs", allowed=_FORM, got="nothing")
    names = [spec.name for spec in parsed]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two inputs are called {name!r}", got=", ".join(map(str, parsed)))
    return Signature(parsed)


def _parse_dim(text: str, spec: str) -> Dim:
    if text.isdigit():
        return Dim(size=int(text))
    match = _DIM.match(text)
    if match is None:
        raise UsageError(
            f"the dimension {text!r} cannot be read",
            where=spec,
            allowed="a number, N, T in 1..128, T in 2.., or H step 32",
        )
    low, high = int(match["low"] or 1), int(match["high"]) if match["high"] else None
    step = int(match["step"] or 1)
    if step == 0 or (high is not None and -(-low // step) * step > high):
        raise UsageError(f"the dimension {text!r} has no sizes", where=spec, allowed="low..high", got=text)
    return Dim(symbol=match["symbol"], low=low, high=high, step=step)
