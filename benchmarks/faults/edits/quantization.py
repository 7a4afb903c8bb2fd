"""Scales and zero points of explicit quantization that are off by the smallest step."""

from __future__ import annotations

import numpy as np

from benchmarks.faults.edits.kinds import Edit, Kind, of_kind
from benchmarks.faults.graph import Graph

_FAMILY = "quantization scale or zero point"
_STEP = np.float32(1 + 1 / 128)
"""A scale that reaches one step further than 128 of them should."""


def _scale(graph: Graph, site: str, _: np.random.Generator) -> None:
    """The scale of one node alone: where the other half of the pair keeps its own, values are stretched."""
    node = graph.node(site)
    constant = graph.constant(node.input[1])
    if constant is None:
        raise ValueError(f"the scale of {site} is no constant")
    node.input[1] = graph.add_constant(graph.values(constant) * _STEP)


def _pair_scale(graph: Graph, site: str, _: np.random.Generator) -> None:
    """The scale of a pair: values lie on other steps, and are cut elsewhere."""
    quantize = graph.node(site)
    for reader in graph.readers(quantize.output[0]):
        _scale(graph, reader.name, _)
    _scale(graph, site, _)


def _zero(step: int) -> Edit:
    """The zero point of a pair's second half."""

    def edit(graph: Graph, site: str, _: np.random.Generator) -> None:
        node = graph.node(site)
        constant = graph.constant(node.input[2])
        if constant is None:
            raise ValueError(f"the zero point of {site} is no constant")
        values = graph.values(constant)
        node.input[2] = graph.add_constant((values.astype(np.int64) + step).astype(values.dtype))

    return edit


KINDS: tuple[Kind, ...] = (
    Kind("quantize-scale-one-step", _FAMILY, of_kind("QuantizeLinear"), _scale, faults=4),
    Kind("dequantize-scale-one-step", _FAMILY, of_kind("DequantizeLinear"), _scale, faults=4),
    Kind("pair-scale-one-step", _FAMILY, of_kind("QuantizeLinear"), _pair_scale, faults=4),
    Kind("zero-point-one-step", _FAMILY, of_kind("DequantizeLinear"), _zero(1), faults=2),
)
