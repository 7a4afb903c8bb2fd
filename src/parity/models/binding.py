"""How the named inputs of a signature are passed to `forward`: by position, and by keyword where it has to be so."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.fx.node import Argument

from parity.errors import UsageError
from parity.models.programs import by_keyword, caller, is_program, is_torchscript
from parity.models.wording import listed

_SHOWN = 4

_PLAIN = {"int": "int64[] in 0..1", "float": "float32[]", "bool": "bool[]"}
"""How a number that is no tensor is written as an input. It has no batch, so every call is one sample then."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of `forward`; `plain` is its type where that is a number and no tensor."""

    name: str
    required: bool
    keyword_only: bool = False
    plain: str | None = None

    def __str__(self) -> str:
        name = self.name if self.plain is None else f"{self.name}: {self.plain}"
        return name if self.required else f"{name}=…"


@dataclass(frozen=True)
class Forward:
    """What `forward` takes; `more` and `named_more` say whether it has `*args` and `**kwargs` as well."""

    parameters: tuple[Parameter, ...]
    more: bool = False
    named_more: bool = False

    @property
    def positional(self) -> tuple[str, ...]:
        """The parameters that can be passed by position, in order."""
        return tuple(each.name for each in self.parameters if not each.keyword_only)

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters without a default."""
        return tuple(each.name for each in self.parameters if each.required)

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters in order."""
        return tuple(each.name for each in self.parameters)

    def leading(self, given: Collection[str]) -> tuple[str, ...]:
        """Those of the given parameters that can go by position: in a row from the first one on."""
        return tuple(itertools.takewhile(given.__contains__, self.positional))

    def __str__(self) -> str:
        before = [str(each) for each in self.parameters if not each.keyword_only]
        after = [str(each) for each in self.parameters if each.keyword_only]
        star = ["*args"] if self.more else ["*"] if after else []
        return f"forward({', '.join([*before, *star, *after, *(['**kwargs'] if self.named_more else [])])})"


@dataclass(frozen=True)
class Passing:
    """Which input is which parameter: those by position in order, then those by keyword as (parameter, input)."""

    positional: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...]
    defaulted: tuple[str, ...]

    def plain(self, names: Sequence[str]) -> bool:
        """Whether the inputs, in the order of the signature, are simply the arguments of a call."""
        return not self.keywords and self.positional == tuple(names)


def forward_of(module: nn.Module) -> Forward:
    """The parameters of a module's `forward`, from its Python signature or its TorchScript schema."""
    if isinstance(module, torch.jit.ScriptModule):
        schema = module.forward.schema  # type: ignore[attr-defined]  # where torch keeps it
        arguments = schema.arguments[1:]  # the module comes first, whatever its code calls it
        return Forward(
            tuple(
                Parameter(each.name, not each.has_default_value(), each.kwarg_only, _plain(str(each.type)))
                for each in arguments
            )
        )
    try:
        taken = inspect.signature(module.forward).parameters.values()
    except (TypeError, ValueError):
        return Forward((), more=True, named_more=True)
    if is_program(module):
        late = by_keyword(module)
        return Forward(tuple(Parameter(each.name, required=True, keyword_only=each.name in late) for each in taken))
    kinds = {each.kind for each in taken}
    named = [each for each in taken if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    return Forward(
        tuple(
            Parameter(
                each.name, each.default is each.empty, each.kind is each.KEYWORD_ONLY, _plain(_written(each.annotation))
            )
            for each in named
        ),
        more=inspect.Parameter.VAR_POSITIONAL in kinds,
        named_more=inspect.Parameter.VAR_KEYWORD in kinds,
    )


def _written(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")


def _plain(kind: str) -> str | None:
    return kind if kind in _PLAIN else None


def plan_passing(forward: Forward, names: Sequence[str], where: str) -> Passing:
    """Which parameter every input is passed as.

    An input that has a parameter's name is that parameter, in whatever order the inputs are written; the others
    are the remaining positional parameters in order.

    Args:
        forward: What can be passed.
        names: The inputs in the order of the signature.
        where: The model, for messages.

    Raises:
        UsageError: there are more inputs than parameters, or a parameter without a default gets none.
    """
    own = set(forward.names)
    taken = {name: name for name in names if name in own}
    free = [name for name in forward.positional if name not in taken]
    unnamed = [name for name in names if name not in own]
    taken.update(zip(free, unnamed, strict=False))
    extra = unnamed[len(free) :]
    if extra and not (forward.more or forward.named_more):
        raise UsageError(
            f"the model does not take the input {extra[0]!r}", where=where, allowed=str(forward),
            got=", ".join(names), hint="give an --input for each parameter that is to be passed, by its name",
        )  # fmt: skip
    missing = [name for name in forward.required if name not in taken]
    if missing:
        raise UsageError(
            f"no input is given for {', '.join(missing)}", where=where, allowed=str(forward), got=", ".join(names),
            hint=" ".join(f'--input "{name}: float32[N, ...]"' for name in missing),
        )  # fmt: skip
    leading = forward.leading(taken)
    keywords = [(name, taken[name]) for name in forward.names if name in taken and name not in leading]
    if extra and forward.more and not keywords:
        passed = (*(taken[name] for name in leading), *extra)
    else:
        passed = tuple(taken[name] for name in leading)
        keywords += [(name, name) for name in extra]
    return Passing(passed, tuple(keywords), tuple(name for name in forward.names if name not in taken))


def bound(module: nn.Module, names: Sequence[str], where: str) -> tuple[nn.Module, tuple[str, ...]]:
    """A module that takes its inputs by position in the order of the signature, and what a reader should know of it.

    It is the module itself wherever it can be. Where an input is keyword-only, or follows an optional one that
    is left out, it is a graph that does nothing but call the module; every export starts from it then.

    Raises:
        UsageError: the inputs do not fit `forward`.
    """
    passing = plan_passing(forward_of(module), names, where)
    notes = _left_out(passing)
    if passing.plain(names):
        return module, notes
    written = [*passing.positional, *(f"{parameter}={name}" for parameter, name in passing.keywords)]
    return _calling(module, names, passing), (f"called as forward({', '.join(written)})", *notes)


def taking_inputs_alone(module: nn.Module, names: Sequence[str]) -> nn.Module:
    """A module without the optional parameters that get no input, for what would take these for inputs as well."""
    passing = plan_passing(forward_of(module), names, type(module).__name__)
    return _calling(module, names, passing) if passing.defaulted else module


def _calling(module: nn.Module, names: Sequence[str], passing: Passing) -> nn.Module:
    graph = torch.fx.Graph()
    inputs = {name: graph.placeholder(name) for name in names}
    keywords: dict[str, Argument] = {parameter: inputs[name] for parameter, name in passing.keywords}
    graph.output(graph.call_module("module", tuple(inputs[name] for name in passing.positional), keywords))
    return caller(module, graph)


def _left_out(passing: Passing) -> tuple[str, ...]:
    left = passing.defaulted
    return (f"left at the defaults of forward: {listed(left, _SHOWN)}",) if left else ()


def suggested_inputs(module: nn.Module) -> tuple[str, ...]:
    """Written inputs to complete, one for each parameter that needs one.

    What the first layer with weights expects is filled in for the first of them; `...` stands for the rest.
    """
    forward = forward_of(module)
    needed = [each for each in forward.parameters if each.required] or list(forward.parameters[:1])
    needed = needed or [Parameter("x", required=True)]
    tensors = [each.name for each in needed if each.plain is None]
    written = dict.fromkeys(tensors, "float32[N, ...]") | {name: _first_input(module) for name in tensors[:1]}
    return tuple(f"{each.name}: {_PLAIN[each.plain] if each.plain else written[each.name]}" for each in needed)


def _first_input(module: nn.Module) -> str:
    if is_torchscript(module):
        return "float32[N, ...]"
    for layer in module.modules():
        if isinstance(layer, nn.Embedding):
            return f"int64[N, T in 1..128] in 0..{layer.num_embeddings - 1}"
        if isinstance(layer, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            rest = {1: "L", 2: "H, W", 3: "D, H, W"}[len(layer.kernel_size)]
            return f"float32[N, {layer.in_channels}, {rest}]"
        if isinstance(layer, nn.Linear):
            return f"float32[N, {layer.in_features}]"
        if isinstance(layer, nn.RNNBase):
            return f"float32[N, T in 1..128, {layer.input_size}]"
    return "float32[N, ...]"
