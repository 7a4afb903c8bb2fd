"""What can be seen without a call: hooks, parametrizations, and modules that stay in training mode."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any

import torch
from torch import nn
from torch.nn.utils import parametrize

from parity.models.hazards.log import HazardLog
from parity.models.hazards.places import code_of


def note_structure(log: HazardLog, module: nn.Module) -> None:
    """Note every forward hook and parametrization, and every module that `eval()` left in training mode."""
    for path, each in module.named_modules():
        if isinstance(each, torch.jit.ScriptModule):
            continue
        hooks: tuple[tuple[str, dict[int, Callable[..., Any]]], ...] = (
            ("forward pre-hook", vars(each)["_forward_pre_hooks"]),
            ("forward hook", vars(each)["_forward_hooks"]),
        )
        for kind, registered in hooks:
            for hook in registered.values():
                code = code_of(hook)
                if code is not None:
                    log.add("hook", f"runs as a {kind}", log.places.of(code, path))
        for name, chain in _parametrizations(each):
            code = code_of(type(chain[0]).forward)
            if code is not None:
                log.add(
                    "parametrization", f"computes the parameter {name!r} anew in each call", log.places.of(code, path)
                )
        setter = _mode_setter(each)
        if each.training and setter is not None:
            log.add("training", "stays in training mode after eval()", log.places.of(setter, path))


def _parametrizations(module: nn.Module) -> Iterable[tuple[str, Any]]:
    """By parameter, the modules that compute it."""
    return module.parametrizations.items() if parametrize.is_parametrized(module) else ()  # type: ignore[operator, union-attr]  # a ModuleDict


def _mode_setter(module: nn.Module) -> CodeType | None:
    """The `train` or `eval` with which a module keeps itself, and what it holds, in training mode."""
    changed = (getattr(type(module), name) for name in ("train", "eval"))
    return next((code_of(each) for each in changed if not each.__module__.startswith("torch.")), None)
