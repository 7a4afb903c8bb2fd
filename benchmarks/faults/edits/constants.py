"""Scalars of a graph written down with three digits: attention scales, the root of two, a sixth."""

from __future__ import annotations

import numpy as np

from benchmarks.faults.edits.kinds import Kind, one_and_all
from benchmarks.faults.edits.rounding import to_digits
from benchmarks.faults.graph import Graph, attribute, set_attribute

_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Pow", "Clip")


def _scalars(graph: Graph) -> list[str]:
    """Float constants of one number in arithmetic that three digits do not hold."""
    read = (tensor for node in graph.nodes(*_ARITHMETIC) for tensor in node.input if tensor)
    found = (graph.constant(tensor) for tensor in read)
    return [name for name in dict.fromkeys(found) if name is not None and _is_rounded(graph, name)]


def _is_rounded(graph: Graph, name: str) -> bool:
    values = graph.values(name)
    return bool(values.dtype == np.float32 and values.size == 1 and (to_digits(values) != values).all())


def _round(graph: Graph, site: str, _: np.random.Generator) -> None:
    graph.set_values(site, to_digits(graph.values(site)))


def _sixths(graph: Graph) -> list[str]:
    return [node.name for node in graph.nodes("HardSigmoid")]


def _round_alpha(graph: Graph, site: str, _: np.random.Generator) -> None:
    node = graph.node(site)
    set_attribute(node, "alpha", float(to_digits(np.float32(attribute(node, "alpha")))))


KINDS: tuple[Kind, ...] = (
    *one_and_all("scalar-3-digits", "constant with 3 digits", _scalars, _round),
    *one_and_all("hardsigmoid-alpha-3-digits", "constant with 3 digits", _sixths, _round_alpha),
)
