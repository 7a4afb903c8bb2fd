"""What `forward` leaves behind: attributes that it sets, containers that it fills, generators that it draws from."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn

from parity.models.hazards.log import HazardLog
from parity.models.hazards.places import Place, Places, inside_torch

Kept = dict[tuple[str, str], Any]
"""What every attribute of every submodule was, by the module's path and the attribute's name."""

_DEEPEST = 4
_LARGEST = 1000
"""How far into containers changes are looked for, and how many elements of one."""

_GENERATORS = {"Python's": ("random.",), "NumPy's": ("np.random.", "numpy.random.")}


@contextmanager
def watched_state(log: HazardLog, module: nn.Module) -> Iterator[None]:
    """Note what changes within the block: attributes of submodules, modes, and NumPy's and Python's generators.

    torch's own generator shows in its operators. All three are as before when the block is left.
    """
    before = _kept(module)
    assigned: dict[tuple[str, str], Place] = {}
    numpy_state, python_state = np.random.get_state(legacy=False), random.getstate()  # noqa: NPY002  # what models may still draw from
    try:
        with torch.random.fork_rng(devices=[]), _assignments(log.places, assigned):
            yield
        _note_attributes(log, module, before, assigned)
        if _drawn(np.random.get_state(legacy=False)) != _drawn(numpy_state):  # noqa: NPY002  # as above
            _note_generator(log, module, "NumPy's")
        if random.getstate() != python_state:
            _note_generator(log, module, "Python's")
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002  # as above
        random.setstate(python_state)


def _note_attributes(log: HazardLog, module: nn.Module, before: Kept, assigned: dict[tuple[str, str], Place]) -> None:
    modules = dict(module.named_modules())
    for key, value in _kept(module).items():
        if key in before and _same(before[key], value):
            continue
        path, name = key
        place = assigned.get(key) or log.places.find(modules[path], f"self.{name}", path)
        if place is None:
            continue  # a layer of torch's own, which exporters know
        if name == "training":
            log.add("training", "switches between training and eval mode while it runs", place)
        else:
            scratch = key in assigned and not place.reads(name)
            what = "sets" if scratch else "changes"
            log.add("scratch" if scratch else "attribute", f"{what} self.{name}, which outlives the call", place)


def _drawn(state: Any) -> tuple[bytes, int, int]:
    return state["state"]["key"].tobytes(), state["state"]["pos"], state["has_gauss"]


def _note_generator(log: HazardLog, module: nn.Module, whose: str) -> None:
    found = [
        place
        for path, each in module.named_modules()
        for fragment in _GENERATORS[whose]
        if (place := log.places.find(each, fragment, path)) is not None
    ]
    for place in sorted(found, key=lambda each: not any(text in each.text for text in _GENERATORS[whose]))[:1]:
        log.add("random", f"draws random numbers ({whose} generator)", place)


@contextmanager
def _assignments(places: Places, assigned: dict[tuple[str, str], Place]) -> Iterator[None]:
    """Write down where each attribute of a submodule is set first."""
    original = nn.Module.__setattr__

    def watched(self: nn.Module, name: str, value: Any) -> None:
        path, frame = places.name(self), sys._getframe(1)  # noqa: SLF001  # the documented way to the caller's frame
        # What torch keeps on its own layers is its exporters' affair, all but the mode that somebody asks for.
        told = name == "training" or not inside_torch(frame)
        if path is not None and told and (path, name) not in assigned:
            assigned[path, name] = places.at(frame)
        original(self, name, value)

    nn.Module.__setattr__ = watched  # type: ignore[method-assign]  # for the time of the block
    try:
        yield
    finally:
        nn.Module.__setattr__ = original  # type: ignore[method-assign]  # as before


def _kept(module: nn.Module) -> Kept:
    own = vars(nn.Module()).keys() - {"training"}
    found: Kept = {}
    for path, each in module.named_modules():
        if isinstance(each, torch.jit.ScriptModule):
            continue  # it is TorchScript's own, and holds its state elsewhere
        for name, value in vars(each).items():
            if name not in own:
                found[path, name] = _token(value)
        for name, buffer in vars(each)["_buffers"].items():
            found[path, name] = buffer
    return found


def _token(value: Any, depth: int = 0) -> Any:
    """What of a value can be told apart later; the value itself where its identity is all there is."""
    if isinstance(value, torch.Tensor):
        return value, None if value.is_inference() else value._version  # noqa: SLF001  # in-place writes are counted nowhere else
    if isinstance(value, np.ndarray):
        return value, value.tobytes() if value.size <= _LARGEST else None
    if isinstance(value, (list, tuple, set, dict)) and depth < _DEEPEST:
        inner = [*value.items()] if isinstance(value, dict) else [*value]
        return type(value), len(inner), [_token(each, depth + 1) for each in inner[:_LARGEST]]
    return value


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    plain = (bool, int, float, complex, str, bytes)
    return type(one) is type(other) and isinstance(one, plain) and bool(one == other)
