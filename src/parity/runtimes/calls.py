"""How a module takes its inputs: by position, by keyword, or at the places of an exported program's call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from parity.errors import ParityError
from parity.models.binding import forward_of
from parity.models.matching import Matching
from parity.models.ports import Port
from parity.runtimes.base import SessionOptions
from parity.runtimes.inputs import input_doubts, input_facts, match_inputs

if TYPE_CHECKING:
    from torch.export import ExportedProgram

Tensors = Mapping[str, torch.Tensor]
Arguments = Callable[[Tensors], tuple[Sequence[Any], Mapping[str, Any]]]


@dataclass(frozen=True)
class Call:
    """The inputs that a call needs, how they become its arguments, and what the report should say of it."""

    names: tuple[str, ...]
    arguments: Arguments
    facts: Mapping[str, str] = field(default_factory=dict)
    doubts: Mapping[str, str] = field(default_factory=dict)


def positional(names: tuple[str, ...]) -> Call:
    """Every input by position."""
    return Call(names, lambda tensors: ([tensors[name] for name in names], {}))


def script_call(module: torch.jit.ScriptModule, options: SessionOptions) -> Call:
    """A TorchScript module takes what the schema of its `forward` names.

    Arguments in a row from the first on go by position, those after one that is left at its default, and those that
    are keyword-only, by keyword.

    Raises:
        ParityError: it has no `forward`, or its arguments do not match the model's inputs.
    """
    schema = getattr(getattr(module, "forward", None), "schema", None)
    if schema is None:
        raise ParityError("the TorchScript archive has no forward to call")
    forward = forward_of(module)
    kinds = {each.name: str(each.type) for each in schema.arguments}
    matching = match_inputs([Port(each.name, optional=not each.required) for each in forward.parameters], options)
    names = {pair.own: pair.name for pair in matching.pairs}
    by_position = forward.leading(names)
    by_keyword = [own for own in names if own not in by_position]

    def place(tensors: Tensors) -> tuple[Sequence[Any], Mapping[str, Any]]:
        made = {own: _as(kinds[own], tensors[name]) for own, name in names.items()}
        return [made[own] for own in by_position], {own: made[own] for own in by_keyword}

    return _matched(matching, place)


def program_call(program: ExportedProgram, options: SessionOptions) -> Call:
    """An exported program takes the arguments that it was exported with, keywords in the order of that call.

    Raises:
        ParityError: its inputs do not match the model's.
    """
    from torch.export.graph_signature import ConstantArgument, InputKind  # noqa: PLC0415  # only for such a file
    from torch.utils._pytree import tree_unflatten  # noqa: PLC0415  # the same

    given = [each.arg for each in program.graph_signature.input_specs if each.kind is InputKind.USER_INPUT]
    constants = {place: arg.value for place, arg in enumerate(given) if isinstance(arg, ConstantArgument)}
    places = {arg.name: place for place, arg in enumerate(given) if place not in constants}
    matching = match_inputs(_program_ports(program, list(places)), options)
    spec = program.call_spec.in_spec
    if spec is None:
        return positional(tuple(pair.name for pair in matching.pairs))

    def place(tensors: Tensors) -> tuple[Sequence[Any], Mapping[str, Any]]:
        leaves: list[Any] = [constants.get(at) for at in range(len(given))]
        for pair in matching.pairs:
            leaves[places[pair.own]] = tensors[pair.name]
        args, kwargs = tree_unflatten(leaves, spec)
        return args, kwargs

    return _matched(matching, place)


def _program_ports(program: ExportedProgram, names: Sequence[str]) -> list[Port]:
    values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    return [_tensor_port(name, values.get(name)) for name in names]


def _tensor_port(name: str, value: object) -> Port:
    if not isinstance(value, torch.Tensor):
        return Port(name)
    dims = tuple(size if isinstance(size, int) else None for size in value.shape)
    return Port(name, str(value.dtype).rpartition(".")[2], dims)


def _as(kind: str, tensor: torch.Tensor) -> Any:
    """A tensor as an argument of a TorchScript type: a number where that is what it takes."""
    return tensor.item() if kind in ("int", "float", "bool", "Optional[int]", "Optional[float]") else tensor


def _matched(matching: Matching, place: Arguments) -> Call:
    names = tuple(pair.name for pair in matching.pairs)
    return Call(names, place, input_facts(matching), input_doubts(matching))
