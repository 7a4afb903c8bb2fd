"""An ONNX graph to edit: nodes and constants by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

Values = npt.NDArray[Any]


class Graph:
    """A model of its own that edits change in place; every node has a name."""

    def __init__(self, model: Any) -> None:
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)
        self._proto = self.model.graph
        for number, node in enumerate(self._proto.node):
            node.name = node.name or f"{node.op_type}_{number}"
        self._initializers = {each.name: each for each in self._proto.initializer}
        self._made = 0
        self._makers: dict[str, Any] = {}

    @property
    def input(self) -> str:
        """The name of the only input."""
        return str(self._proto.input[0].name)

    def nodes(self, *kinds: str) -> list[Any]:
        """The nodes of some operators, in order."""
        return [node for node in self._proto.node if node.op_type in kinds]

    def node(self, name: str) -> Any:
        """One node; raises StopIteration where there is none of that name."""
        return next(node for node in self._proto.node if node.name == name)

    def readers(self, tensor: str) -> list[Any]:
        """The nodes that read a tensor."""
        return [node for node in self._proto.node if tensor in node.input]

    def maker(self, tensor: str) -> Any | None:
        """The node that makes a tensor, or None where it is an input or an initializer."""
        if not self._makers:
            self._makers = {output: node for node in self._proto.node for output in node.output}
        return self._makers.get(tensor)

    def constant(self, tensor: str) -> str | None:
        """The initializer or constant node's output that a tensor's values come from, through identities."""
        if tensor in self._initializers:
            return tensor
        maker = self.maker(tensor)
        if maker is None or maker.op_type not in ("Constant", "Identity"):
            return None
        return tensor if maker.op_type == "Constant" else self.constant(maker.input[0])

    def values(self, constant: str) -> Values:
        """The values of an initializer or of a constant node, a copy."""
        return np.array(numpy_helper.to_array(self._tensor(constant)))

    def set_values(self, constant: str, values: Values) -> None:
        """Give an initializer or a constant node other values, in its own dtype."""
        tensor = self._tensor(constant)
        before = numpy_helper.to_array(tensor)
        tensor.CopyFrom(numpy_helper.from_array(np.asarray(values, dtype=before.dtype), tensor.name))

    def _tensor(self, constant: str) -> Any:
        if constant in self._initializers:
            return self._initializers[constant]
        return next(each.t for each in self.maker(constant).attribute if each.name == "value")  # type: ignore[union-attr]  # a constant has a maker

    def add_constant(self, values: Values) -> str:
        """A new initializer; returns its name."""
        name = self.fresh("constant")
        self._proto.initializer.append(numpy_helper.from_array(values, name))
        self._initializers[name] = self._proto.initializer[-1]
        return name

    def fresh(self, what: str) -> str:
        """A name that is not in the graph yet."""
        self._made += 1
        return f"planted_{what}_{self._made}"

    def replace(self, node: Any, nodes: Sequence[Any]) -> None:
        """Put nodes where one was; the last has to make its output."""
        place = list(self._proto.node).index(node)
        others = list(self._proto.node)
        others[place : place + 1] = nodes
        kept = [onnx.NodeProto.FromString(each.SerializeToString()) for each in others]
        del self._proto.node[:]
        self._proto.node.extend(kept)
        self._makers = {}

    def insert(
        self, tensor: str, chain: Iterable[tuple[str, list[str], dict[str, Any]]], readers: Sequence[str]
    ) -> None:
        """Put a chain of operators (kind, further inputs, attributes) between a tensor and some of its readers."""
        current, made = tensor, []
        for kind, others, attributes in chain:
            output = self.fresh("value")
            made.append(helper.make_node(kind, [current, *others], [output], name=self.fresh(kind), **attributes))
            current = output
        for name in readers:
            node = self.node(name)
            for place, read in enumerate(node.input):
                if read == tensor:
                    node.input[place] = current
        first = self.node(min(readers, key=self._place))
        self.replace(first, [*made, first])

    def _place(self, name: str) -> int:
        return next(place for place, node in enumerate(self._proto.node) if node.name == name)


def attribute(node: Any, name: str, default: Any = None) -> Any:
    """The value of a node's attribute, or the default where it has none."""
    found = next((each for each in node.attribute if each.name == name), None)
    if found is None:
        return default
    value = helper.get_attribute_value(found)
    return value.decode() if isinstance(value, bytes) else value


def set_attribute(node: Any, name: str, value: Any) -> None:
    """Set a node's attribute, adding it where there is none."""
    kept = [each for each in node.attribute if each.name != name]
    made = helper.make_attribute(name, value)
    del node.attribute[:]
    node.attribute.extend([*kept, made])


def become(node: Any, kind: str, inputs: Sequence[str], **attributes: Any) -> None:
    """Turn a node into one of another operator with the same outputs."""
    node.op_type = kind
    kept = list(inputs)
    del node.input[:]
    node.input.extend(kept)
    del node.attribute[:]
    node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
