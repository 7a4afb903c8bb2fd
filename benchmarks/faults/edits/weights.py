"""Weights that are slightly off, out of order, or were stored in fewer bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.faults.edits.kinds import Edit, Kind, one_and_all
from benchmarks.faults.edits.rounding import through_bfloat16, through_float16, through_int8, to_digits
from benchmarks.faults.graph import Graph, Values, attribute

_ONE = "one weight off by 1 %"
_CHANNEL = "one channel off by 1 %"
_STORED = "weights in fewer bits"
_SWAPPED = "two channels swapped"
_BIAS = "bias"
_OFF = np.float32(1.01)
_LARGER = 0.9
"""Quantile of the magnitudes of one tensor from which the weight that is off is taken."""

_SMALLEST = 16
"""Tensors with fewer numbers are no layer's weights."""


def _weighted(graph: Graph) -> dict[str, str]:
    """Weights of convolutions and matrix products by the name of their constant, with the node that reads them."""
    found: dict[str, str] = {}
    shared: set[str] = set()
    for node in graph.nodes("Conv", "Gemm", "MatMul"):
        constant = graph.constant(node.input[1])
        if constant is None or graph.values(constant).size < _SMALLEST:
            continue
        shared |= {constant} & found.keys()
        found[constant] = node.name
    return {name: node for name, node in found.items() if name not in shared}


def weights(graph: Graph) -> list[str]:
    """The constants that are the weights of one layer alone."""
    return list(_weighted(graph))


def _biases(graph: Graph) -> list[str]:
    places = {"Conv": 2, "Gemm": 2, "BatchNormalization": 2, "LayerNormalization": 2}
    read = (node.input[places[node.op_type]] for node in graph.nodes(*places) if len(node.input) > places[node.op_type])
    found = [graph.constant(tensor) for tensor in read]
    return [name for name in dict.fromkeys(found) if name is not None and graph.values(name).any()]


def _output_axis(graph: Graph, weight: str) -> int:
    node = graph.node(_weighted(graph)[weight])
    return 0 if node.op_type == "Conv" or attribute(node, "transB", 0) else -1


def _changed(change: Callable[[Values], Values]) -> Edit:
    def edit(graph: Graph, site: str, _: np.random.Generator) -> None:
        graph.set_values(site, change(graph.values(site)))

    return edit


def _one_off(graph: Graph, site: str, rng: np.random.Generator) -> None:
    values = graph.values(site)
    size = np.abs(values).reshape(-1)
    larger = np.flatnonzero(size >= np.quantile(size, _LARGER))
    values.reshape(-1)[rng.choice(larger)] *= _OFF
    graph.set_values(site, values)


def _channel_off(graph: Graph, site: str, rng: np.random.Generator) -> None:
    values = np.moveaxis(graph.values(site), _output_axis(graph, site), 0)
    values[rng.integers(len(values))] *= _OFF
    graph.set_values(site, np.moveaxis(values, 0, _output_axis(graph, site)))


def _swap(graph: Graph, site: str, rng: np.random.Generator) -> None:
    axis = _output_axis(graph, site)
    values = np.moveaxis(graph.values(site), axis, 0)
    one, other = rng.choice(len(values), 2, replace=False)
    values[[one, other]] = values[[other, one]]
    graph.set_values(site, np.moveaxis(values, 0, axis))


def _swap_inputs(graph: Graph, site: str, rng: np.random.Generator) -> None:
    axis = 1 if _output_axis(graph, site) == 0 else -2
    values = np.moveaxis(graph.values(site), axis, 0)
    one, other = rng.choice(len(values), 2, replace=False)
    values[[one, other]] = values[[other, one]]
    graph.set_values(site, np.moveaxis(values, 0, axis))


def _with_inputs(graph: Graph) -> list[str]:
    """Weights with at least two input channels: depthwise convolutions have one."""
    return [
        name for name in weights(graph) if graph.values(name).shape[1 if _output_axis(graph, name) == 0 else -2] > 1
    ]


KINDS: tuple[Kind, ...] = (
    Kind("weight-1-percent", _ONE, weights, _one_off, faults=3),
    Kind("bias-1-percent", _ONE, _biases, _one_off),
    Kind("channel-1-percent", _CHANNEL, weights, _channel_off, faults=2),
    Kind("bias-dropped", _BIAS, _biases, _changed(np.zeros_like)),
    *one_and_all("weights-float16", _STORED, weights, _changed(through_float16)),
    *one_and_all("weights-bfloat16", _STORED, weights, _changed(through_bfloat16)),
    *one_and_all("weights-int8", _STORED, weights, _changed(through_int8)),
    *one_and_all("weights-3-digits", _STORED, weights, _changed(to_digits)),
    Kind("output-channels-swapped", _SWAPPED, weights, _swap, faults=2),
    Kind("input-channels-swapped", _SWAPPED, _with_inputs, _swap_inputs),
)
