"""Convolutions, pools and resizes whose windows lie, or count, otherwise."""

from __future__ import annotations

import numpy as np
from onnx import helper

from benchmarks.faults.edits.kinds import Edit, Kind, Sites, of_kind, one_and_all
from benchmarks.faults.graph import Graph, attribute, become, set_attribute

_PADDING = "padding and pooling"
_RESIZE = "resize"


def _padded(*operators: str) -> Sites:
    """Nodes with as much padding on both sides of height and width, and some."""

    def sites(graph: Graph) -> list[str]:
        found = ((node.name, list(attribute(node, "pads", []))) for node in graph.nodes(*operators))
        return [name for name, pads in found if len(pads) == 4 and pads[:2] == pads[2:] and min(pads) > 0]  # noqa: PLR2004  # begins and ends of two axes

    return sites


def _shift(graph: Graph, site: str, _: np.random.Generator) -> None:
    """One line less in front and one more behind, as another framework's "same" has it."""
    node = graph.node(site)
    top, left, bottom, right = attribute(node, "pads")
    set_attribute(node, "pads", [top - 1, left - 1, bottom + 1, right + 1])


def _pad_by(mode: str) -> Edit:
    def edit(graph: Graph, site: str, _: np.random.Generator) -> None:
        node = graph.node(site)
        top, left, bottom, right = attribute(node, "pads")
        set_attribute(node, "pads", [0, 0, 0, 0])
        pads = graph.add_constant(np.array([0, 0, top, left, 0, 0, bottom, right], dtype=np.int64))
        graph.insert(node.input[0], [("Pad", [pads], {"mode": mode})], [site])

    return edit


def _dilatable(graph: Graph) -> list[str]:
    """Convolutions whose dilation can be doubled, with the padding to keep the shape."""
    return [
        node.name
        for node in graph.nodes("Conv")
        if list(attribute(node, "kernel_shape", [])) == [3, 3]
        and list(attribute(node, "pads", [])) in ([1] * 4, [2] * 4)
    ]


def _double_dilation(graph: Graph, site: str, _: np.random.Generator) -> None:
    node = graph.node(site)
    dilations = [2 * each for each in attribute(node, "dilations", [1, 1])]
    set_attribute(node, "dilations", dilations)
    set_attribute(node, "pads", dilations * 2)


def _counting(graph: Graph, site: str, _: np.random.Generator) -> None:
    node = graph.node(site)
    set_attribute(node, "count_include_pad", 1 - attribute(node, "count_include_pad", 0))


def _ceiling(graph: Graph, site: str, _: np.random.Generator) -> None:
    node = graph.node(site)
    set_attribute(node, "ceil_mode", 1 - attribute(node, "ceil_mode", 0))


def _max_to_average(graph: Graph, site: str, _: np.random.Generator) -> None:
    node = graph.node(site)
    kept = {each.name: helper.get_attribute_value(each) for each in node.attribute if each.name != "dilations"}
    become(node, "AveragePool", list(node.input), **kept)


def _resizing(mode: str) -> Sites:
    return lambda graph: [node.name for node in graph.nodes("Resize") if attribute(node, "mode") == mode]


def _set(name: str, value: object) -> Edit:
    def edit(graph: Graph, site: str, _: np.random.Generator) -> None:
        set_attribute(graph.node(site), name, value)

    return edit


def _coordinates(way: str) -> Edit:
    return _set("coordinate_transformation_mode", way)


def _resizes() -> tuple[Kind, ...]:
    linear, cubic, nearest = _resizing("linear"), _resizing("cubic"), _resizing("nearest")
    return (
        *one_and_all("resize-linear-to-nearest", _RESIZE, linear, _set("mode", "nearest")),
        *one_and_all("resize-linear-to-cubic", _RESIZE, linear, _set("mode", "cubic")),
        *one_and_all("resize-linear-align-corners", _RESIZE, linear, _coordinates("align_corners")),
        *one_and_all("resize-linear-asymmetric", _RESIZE, linear, _coordinates("asymmetric")),
        Kind("resize-cubic-to-linear", _RESIZE, cubic, _set("mode", "linear")),
        Kind("resize-cubic-coefficient", _RESIZE, cubic, _set("cubic_coeff_a", -0.5)),
        Kind("resize-cubic-align-corners", _RESIZE, cubic, _coordinates("align_corners")),
        Kind("resize-cubic-asymmetric", _RESIZE, cubic, _coordinates("asymmetric")),
        Kind("resize-cubic-exclude-outside", _RESIZE, cubic, _set("exclude_outside", 1)),
        *one_and_all("resize-nearest-rounds", _RESIZE, nearest, _set("nearest_mode", "round_prefer_floor")),
        *one_and_all("resize-nearest-half-pixel", _RESIZE, nearest, _coordinates("half_pixel")),
        *one_and_all("resize-nearest-to-linear", _RESIZE, nearest, _set("mode", "linear")),
    )


KINDS: tuple[Kind, ...] = (
    *one_and_all("conv-pads-shifted", _PADDING, _padded("Conv"), _shift),
    Kind("conv-pads-reflect", _PADDING, _padded("Conv"), _pad_by("reflect")),
    Kind("conv-pads-edge", _PADDING, _padded("Conv"), _pad_by("edge")),
    Kind("conv-dilation-doubled", _PADDING, _dilatable, _double_dilation),
    Kind("pool-pads-shifted", _PADDING, _padded("MaxPool", "AveragePool"), _shift),
    *one_and_all("pool-counts-padding", _PADDING, _padded("AveragePool"), _counting),
    *one_and_all("pool-ceil-mode", _PADDING, of_kind("MaxPool", "AveragePool"), _ceiling),
    Kind("pool-max-to-average", _PADDING, of_kind("MaxPool"), _max_to_average),
    *_resizes(),
)
