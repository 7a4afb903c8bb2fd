"""Ports: inputs and outputs as an artifact, a signature or a reference describes them, each as far as it is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from parity.models.signature import Signature
from parity.records import OutputFacts

_KINDS = {"bool": "bool", "bfloat": "float", "float": "float", "int": "int", "uint": "int", "complex": "complex"}


@dataclass(frozen=True)
class Port:
    """One input or output.

    Attributes:
        name: What its owner calls it.
        dtype: As torch calls it (`float32`, `bfloat16`); None where it is not known.
        dims: The size of each dimension, None for one that may vary; None altogether where the rank is not known.
        optional: Whether a call may leave it out.
    """

    name: str
    dtype: str | None = None
    dims: tuple[int | None, ...] | None = None
    optional: bool = False

    @property
    def known(self) -> bool:
        """Whether anything but the name can tell it from others."""
        return self.dtype is not None or self.dims is not None

    def __str__(self) -> str:
        dims = "" if self.dims is None else f"[{', '.join('?' if size is None else str(size) for size in self.dims)}]"
        return f"{self.name}: {self.dtype}{dims}" if self.dtype else self.name


def kind(dtype: str) -> str:
    """`float`, `int`, `complex`, `bool`, or the dtype itself where it is none of these."""
    return _KINDS.get(dtype.rstrip("0123456789"), dtype)


def same_kind(one: Port, other: Port) -> bool:
    """Whether numbers of one can be those of the other: floats of any width, integers of any width."""
    return one.dtype is None or other.dtype is None or kind(one.dtype) == kind(other.dtype)


def same_shape(one: Port, other: Port) -> bool:
    """Whether both have one rank, and one size wherever both are fixed; what is not known agrees with anything."""
    if one.dims is None or other.dims is None:
        return True
    return len(one.dims) == len(other.dims) and all(
        first is None or second is None or first == second for first, second in zip(one.dims, other.dims, strict=True)
    )


def signature_ports(signature: Signature) -> tuple[Port, ...]:
    """The inputs of a signature in order; a symbol is a size that may vary."""
    return tuple(Port(spec.name, spec.dtype, tuple(dim.size for dim in spec.dims)) for spec in signature.inputs)


def output_ports(outputs: Iterable[OutputFacts]) -> tuple[Port, ...]:
    """The reference's outputs in order, by the shape of one call: the batch may vary, the rest is taken as it was."""
    return tuple(
        Port(each.name, each.dtype, (None, *each.shape[1:]) if each.batched and each.shape else each.shape)
        for each in outputs
    )
