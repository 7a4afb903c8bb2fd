"""Images, or values within the graph, that went through a narrower type; colours in the other order."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from benchmarks.faults.edits.kinds import Edit, Kind, of_kind
from benchmarks.faults.graph import Graph
from suites.crops import IMAGENET_MEAN, IMAGENET_STD

Chain = list[tuple[str, list[str], dict[str, Any]]]
"""Operators in a row: kind, inputs besides the one before, attributes."""

_INPUT = "input through fewer bits"
_INNER = "activation through fewer bits"


def _input(graph: Graph) -> list[str]:
    return [graph.input]


def _through(kind: int) -> Chain:
    return [("Cast", [], {"to": kind}), ("Cast", [], {"to": TensorProto.FLOAT})]


def _plant(graph: Graph, tensor: str, chain: Chain) -> None:
    graph.insert(tensor, chain, [node.name for node in graph.readers(tensor)])


def _input_cast(kind: int) -> Edit:
    def edit(graph: Graph, site: str, _: np.random.Generator) -> None:
        _plant(graph, site, _through(kind))

    return edit


def _as_bytes(*, rounded: bool) -> Edit:
    """Back to 0..255, to an 8-bit integer, and normalised again."""

    def edit(graph: Graph, site: str, _: np.random.Generator) -> None:
        mean, std = (
            graph.add_constant(np.array(each, dtype=np.float32).reshape(1, 3, 1, 1) * np.float32(255))
            for each in (IMAGENET_MEAN, IMAGENET_STD)
        )
        there: Chain = [("Mul", [std], {}), ("Add", [mean], {}), *([("Round", [], {})] if rounded else [])]
        back: Chain = [("Sub", [mean], {}), ("Div", [std], {})]
        _plant(graph, site, [*there, *_through(TensorProto.UINT8), *back])

    return edit


def _other_colours(graph: Graph, site: str, _: np.random.Generator) -> None:
    order = graph.add_constant(np.array([2, 1, 0], dtype=np.int64))
    _plant(graph, site, [("Gather", [order], {"axis": 1})])


def _cast_in_front(kind: int) -> Edit:
    """What one layer reads goes through a narrower type."""

    def edit(graph: Graph, site: str, _: np.random.Generator) -> None:
        graph.insert(graph.node(site).input[0], _through(kind), [site])

    return edit


_LAYERS = of_kind("Conv", "Gemm", "MatMul")

KINDS: tuple[Kind, ...] = (
    Kind("input-uint8-rounded", _INPUT, _input, _as_bytes(rounded=True)),
    Kind("input-uint8-cut", _INPUT, _input, _as_bytes(rounded=False)),
    Kind("input-float16", _INPUT, _input, _input_cast(TensorProto.FLOAT16)),
    Kind("input-bfloat16", _INPUT, _input, _input_cast(TensorProto.BFLOAT16)),
    Kind("input-colours-swapped", "two channels swapped", _input, _other_colours),
    Kind("activation-float16", _INNER, _LAYERS, _cast_in_front(TensorProto.FLOAT16)),
    Kind("activation-bfloat16", _INNER, _LAYERS, _cast_in_front(TensorProto.BFLOAT16)),
)
