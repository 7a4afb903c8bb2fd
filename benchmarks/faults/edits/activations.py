"""Activations exchanged for a near twin, or with slightly other parameters; softmax along another axis."""

from __future__ import annotations

import math

import numpy as np
from onnx import helper

from benchmarks.faults.edits.kinds import Edit, Kind, of_kind, one_and_all
from benchmarks.faults.graph import Graph, attribute, become, set_attribute

_FAMILY = "activation's near twin"


def _relu_to_relu6(graph: Graph, site: str, _: np.random.Generator) -> None:
    bounds = [graph.add_constant(np.float32(bound)) for bound in (0, 6)]
    node = graph.node(site)
    become(node, "Clip", [node.input[0], *bounds])


def _relu6_to_relu(graph: Graph, site: str, _: np.random.Generator) -> None:
    node = graph.node(site)
    become(node, "Relu", [node.input[0]])


def _relu_to_leaky(slope: float) -> Edit:
    def edit(graph: Graph, site: str, _: np.random.Generator) -> None:
        node = graph.node(site)
        become(node, "LeakyRelu", [node.input[0]], alpha=slope)

    return edit


def _hardswish_to_swish(graph: Graph, site: str, _: np.random.Generator) -> None:
    node = graph.node(site)
    gate = graph.fresh("gate")
    sigmoid = helper.make_node("Sigmoid", [node.input[0]], [gate], name=graph.fresh("Sigmoid"))
    product = helper.make_node("Mul", [node.input[0], gate], list(node.output), name=graph.fresh("Mul"))
    graph.replace(node, [sigmoid, product])


def _sigmoids(graph: Graph) -> list[str]:
    return [node.name for node in graph.nodes("Sigmoid")]


def _swish_sigmoids(graph: Graph) -> list[str]:
    """Sigmoids whose argument their result is multiplied with."""
    return [
        node.name
        for node in graph.nodes("Sigmoid")
        if any(each.op_type == "Mul" and node.input[0] in each.input for each in graph.readers(node.output[0]))
    ]


def _to_hard_sigmoid(graph: Graph, site: str, _: np.random.Generator) -> None:
    node = graph.node(site)
    become(node, "HardSigmoid", [node.input[0]], alpha=1 / 6, beta=0.5)


def _to_sigmoid(graph: Graph, site: str, _: np.random.Generator) -> None:
    node = graph.node(site)
    become(node, "Sigmoid", [node.input[0]])


def _hard_sigmoid(name: str, value: float) -> Edit:
    def edit(graph: Graph, site: str, _: np.random.Generator) -> None:
        set_attribute(graph.node(site), name, value)

    return edit


def _erf_to_tanh(graph: Graph, site: str, _: np.random.Generator) -> None:
    """erf(u) as GELU's tanh form has it, u = x / √2: tanh(2 / √π · (u + 2 · 0.044715 · u³))."""
    node = graph.node(site)
    u = node.input[0]
    cubed, bent, moved, scaled = (graph.fresh("gelu") for _ in range(4))
    three, cube, outer = (graph.add_constant(np.float32(each)) for each in (3, 2 * 0.044715, 2 / math.sqrt(math.pi)))
    made = [
        ("Pow", [u, three], cubed),
        ("Mul", [cubed, cube], bent),
        ("Add", [u, bent], moved),
        ("Mul", [moved, outer], scaled),
        ("Tanh", [scaled], node.output[0]),
    ]
    graph.replace(
        node, [helper.make_node(kind, inputs, [output], name=graph.fresh(kind)) for kind, inputs, output in made]
    )


def _relu6(graph: Graph) -> list[str]:
    return [node.name for node in graph.nodes("Clip")]


def _other_axis(graph: Graph, site: str, _: np.random.Generator) -> None:
    node = graph.node(site)
    axis = attribute(node, "axis", -1)
    set_attribute(node, "axis", axis - 1)


KINDS: tuple[Kind, ...] = (
    *one_and_all("relu-to-relu6", _FAMILY, of_kind("Relu"), _relu_to_relu6),
    *one_and_all("relu6-to-relu", _FAMILY, _relu6, _relu6_to_relu),
    *one_and_all("relu-to-leaky-0.01", _FAMILY, of_kind("Relu"), _relu_to_leaky(0.01)),
    *one_and_all("relu-to-leaky-0.001", _FAMILY, of_kind("Relu"), _relu_to_leaky(0.001)),
    *one_and_all("hardswish-to-swish", _FAMILY, of_kind("HardSwish"), _hardswish_to_swish),
    *one_and_all("swish-to-hardswish", _FAMILY, _swish_sigmoids, _to_hard_sigmoid),
    *one_and_all("hardsigmoid-to-sigmoid", _FAMILY, of_kind("HardSigmoid"), _to_sigmoid),
    *one_and_all("hardsigmoid-alpha-0.2", _FAMILY, of_kind("HardSigmoid"), _hard_sigmoid("alpha", 0.2)),
    Kind("hardsigmoid-beta-0.49", _FAMILY, of_kind("HardSigmoid"), _hard_sigmoid("beta", 0.49)),
    Kind("sigmoid-to-hardsigmoid", _FAMILY, _sigmoids, _to_hard_sigmoid),
    *one_and_all("gelu-erf-to-tanh", _FAMILY, of_kind("Erf"), _erf_to_tanh),
    *one_and_all("softmax-axis", "softmax axis", of_kind("Softmax"), _other_axis),
)
