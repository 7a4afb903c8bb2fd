"""Files that are programs as well as weights: TorchScript archives and exported programs, made modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from parity.errors import ModelError, Unsupported

_CALLER = "Caller"
_GUARDS = "_guards_fn"
"""Where torch keeps the guards of an exported program's module."""


def load_torchscript(path: Path) -> nn.Module:
    """A TorchScript archive as a module on the CPU.

    Raises:
        ModelError: torch cannot read it.
    """
    try:
        module: nn.Module = torch.jit.load(str(path), map_location="cpu")
    except Exception as error:
        raise _unreadable(path, "TorchScript archive", error) from error
    return module


def load_program(path: Path) -> nn.Module:
    """An exported program as a module. It keeps the mode, training or eval, that it was exported in.

    Its guards, code that holds every call against the signature, are left out: they would be taken for the model's own.

    Raises:
        ModelError: torch cannot read it.
    """
    try:
        module: Any = _unguarded(torch.export.load(path).module())
    except Exception as error:
        raise _unreadable(path, "exported program", error) from error
    for refusing in ("train", "eval"):  # both raise on what was exported, though they have nothing to change in it
        vars(module).pop(refusing, None)
    made: nn.Module = module
    return made.eval()  # a flag alone, whose value before says nothing of what was exported


def _unguarded(module: Any) -> Any:
    guards = [node for node in module.graph.nodes if node.op == "call_module" and node.target == _GUARDS]
    for node in guards:
        module.graph.erase_node(node)
    if guards:
        module.delete_submodule(_GUARDS)
        module.recompile()
    module.validate_inputs = False
    return module


def is_torchscript(module: nn.Module) -> bool:
    """Whether a module, or what a caller of it calls, is TorchScript."""
    return isinstance(_called(module), torch.jit.ScriptModule)


def is_program(module: nn.Module) -> bool:
    """Whether a module, or what a caller of it calls, is the graph of an exported program."""
    called = _called(module)
    return isinstance(called, torch.fx.GraphModule) and hasattr(called, "_in_spec")


def caller(module: nn.Module, graph: torch.fx.Graph) -> nn.Module:
    """A module that does nothing but call another, `module` in its graph."""
    made = torch.fx.GraphModule({"module": module}, graph, class_name=_CALLER)
    made.training = False
    return made


def _called(module: nn.Module) -> nn.Module:
    return module.get_submodule("module") if type(module).__name__ == _CALLER else module


def require_modules(module: nn.Module, what: str) -> None:
    """What works on Python modules and their source has nothing to work on in a file that is a program.

    Raises:
        Unsupported: the model is TorchScript.
    """
    if is_torchscript(module):
        raise Unsupported(f"the model is TorchScript, which {what} does not take")


def by_keyword(program: nn.Module) -> tuple[str, ...]:
    """The inputs of an exported program's module that it takes by keyword alone."""
    spec: Any = program._in_spec  # noqa: SLF001  # where torch keeps it
    _, keywords = spec.children()
    return tuple(keywords.context)


def _unreadable(path: Path, kind: str, error: Exception) -> ModelError:
    reason = next((line for line in str(error).strip().splitlines() if line.strip()), type(error).__name__)
    return ModelError(
        f"this {kind} cannot be read: {reason.strip()[:200]}",
        where=str(path),
        got=f"torch {torch.__version__}",
        hint="read it with the torch version, and the packages with its operators, that it was made with",
    )
