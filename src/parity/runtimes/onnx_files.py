"""What an ONNX file needs besides itself: its external data, and whether that can be what the graph was saved with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class External:
    """The external data of a model.

    Attributes:
        files: Names of the files that are there, relative to the model's folder.
        problem: What is wrong with them and what to do, in one line; None where nothing is.
        note: What is odd about them and proves nothing; None where nothing is.
    """

    files: tuple[str, ...] = ()
    problem: str | None = None
    note: str | None = None


def external_data(model: Any, folder: Path) -> External:
    """The external data of a model (`onnx.ModelProto` that was read without it) in its folder.

    A file that is too short for the tensors that the graph places in it was cut off, or is another export's. One
    that is longer may be another's as well, but tools that append to it leave such files too.
    """
    ends: dict[str, int] = {}
    for tensor in tensors(model):
        held = {entry.key: entry.value for entry in tensor.external_data}
        if tensor.data_location == tensor.EXTERNAL and "location" in held:
            location = held["location"]
            end = int(held.get("offset", 0)) + int(held.get("length", 0))
            ends[location] = max(ends.get(location, 0), end)
    inside = {name: _inside(folder, name) for name in sorted(ends)}
    files = tuple(name for name, path in inside.items() if path is not None and path.is_file())
    return External(files, _problem(inside, ends), _note(folder, files, ends))


def tensors(model: Any) -> Iterator[Any]:
    """Every stored tensor of a model: initializers and constants of its graph, of inner graphs and of functions."""
    yield from _graph_tensors(model.graph)
    for function in model.functions:
        yield from _node_tensors(function.node)


def nodes(model: Any) -> Iterator[Any]:
    """Every node of a model, those of inner graphs and of functions included."""
    for container in (model.graph, *model.functions):
        yield from _inner_nodes(container.node)


def _inner_nodes(found: Any) -> Iterator[Any]:
    for node in found:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _inner_nodes(graph.node)


def _graph_tensors(graph: Any) -> Iterator[Any]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _node_tensors(graph.node)


def _node_tensors(found: Any) -> Iterator[Any]:
    for node in found:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors)
            for graph in (attribute.g, *attribute.graphs):
                yield from _graph_tensors(graph)


def _inside(folder: Path, name: str) -> Path | None:
    """The file of a location, or None where that lies outside of the model's folder, which runtimes refuse."""
    path = folder / name
    return path if path.resolve().is_relative_to(folder.resolve()) else None


def _problem(inside: Mapping[str, Path | None], ends: Mapping[str, int]) -> str | None:
    for name, path in inside.items():
        if path is None:
            return f"its external data {name} lies outside of its folder, which runtimes refuse: save it again beside"
        if not path.is_file():
            return f"its external data is missing: there is no {name} beside it, so copy that with it"
        held = path.stat().st_size
        if held < ends[name]:
            return (
                f"its external data {name} is not what it was saved with: the graph reads {ends[name]:,} bytes, and "
                f"the file has {held:,}: it was cut off, or another export has written it: export both again together"
            )
    return None


def _note(folder: Path, files: tuple[str, ...], ends: Mapping[str, int]) -> str | None:
    longer = [
        f"{name} has {held:,} bytes, and the graph reads {ends[name]:,} of them"
        for name in files
        if ends[name] and (held := (folder / name).stat().st_size) > ends[name]
    ]
    return "; ".join(longer) or None
