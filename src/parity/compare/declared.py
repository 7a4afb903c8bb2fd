"""Findings on what an artifact declares: a symbol of the signature that became a constant, or narrower."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parity.artifacts import Bounds, Declared
from parity.models.matching import match_ports
from parity.models.ports import Port, signature_ports
from parity.models.signature import Dim, Signature
from parity.records import BehaviourFinding, OutputFacts

CONSTANT_DIMENSION = "constant_dimension"

_SPECIAL = 2
"""torch.export writes this as the lowest size that it has thought of, and answers smaller ones all the same."""


def compare_declared(
    declared: Declared | None, signature: Signature, outputs: Sequence[OutputFacts]
) -> tuple[BehaviourFinding, ...]:
    """One finding for each input or output that is narrower than the signature; one for all where none is.

    Nothing where the artifact declares nothing, or where the signature has no symbol. Of an output only the batch
    is known; it is looked at where the inputs declare nothing wrong, since it follows from them.
    """
    symbols: dict[str | None, Dim] = {name: dim for name, dim in signature.symbols.items() if _open(dim)}
    if declared is None or not symbols:
        return ()
    inputs = _inputs(declared, signature)
    found = [
        BehaviourFinding(kind=CONSTANT_DIMENSION, name=f"input {spec.name}", detail=detail)
        for spec in signature.inputs
        for detail in _narrower([dim.symbol for dim in spec.dims], inputs.get(spec.name, ()), symbols)
    ]
    if not found:
        found = [
            BehaviourFinding(kind=CONSTANT_DIMENSION, name=f"output {output.name}", detail=detail)
            for output in outputs
            if output.batched and output.name in declared.outputs
            for detail in _narrower([signature.batch], declared.outputs[output.name][:1], symbols)
        ]
    return tuple(found) or (BehaviourFinding(kind=CONSTANT_DIMENSION, name=", ".join(map(str, symbols))),)


def _open(dim: Dim) -> bool:
    """Whether the symbol stands for more than one size."""
    return dim.high is None or dim.at_least(dim.low) != dim.at_most(dim.high)


def _inputs(declared: Declared, signature: Signature) -> dict[str, Sequence[Bounds]]:
    """The declared dimensions by the signature's names, matched as a runtime matches them."""
    ports = [
        Port(name, dims=tuple(low if low == high else None for low, high in dims))
        for name, dims in declared.inputs.items()
    ]
    matching = match_ports(ports, signature_ports(signature))
    return {pair.name: declared.inputs[pair.own] for pair in matching.pairs}


def _narrower(names: Sequence[str | None], dims: Sequence[Bounds], symbols: Mapping[str | None, Dim]) -> list[str]:
    if len(names) != len(dims):
        return []
    told = [_told(symbols[name], bounds) for name, bounds in zip(names, dims, strict=True) if name in symbols]
    return [text for text in told if text]


def _told(dim: Dim, bounds: Bounds) -> str | None:
    low, high = bounds
    if low is not None and low == high:
        return f"{dim.symbol} became the constant {low}"
    highest = None if dim.high is None else dim.at_most(dim.high)
    lowest = dim.at_least(dim.low)
    above = high is not None and (highest is None or high < highest)
    below = low is not None and lowest is not None and low > max(lowest, _SPECIAL)
    if not above and not below:
        return None
    return f"{dim.symbol} became {low}..{'' if high is None else high}, and the signature allows {dim}"
