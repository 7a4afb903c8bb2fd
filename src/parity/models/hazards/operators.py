"""Watches the operators of a call: random ones, in-place writes to what outlives it, narrow casts, unknown sizes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from parity.models.hazards.log import HazardLog

_OFF = {"dropout_p": 0.0, "dropout": 0.0, "train": False, "training": False}
"""Arguments with which an operator that may draw numbers draws none, nor updates statistics."""

_HALF_BYTES = 2
"""Bytes of float16 and bfloat16; a float16 model has no wider dtype to come from."""


class OperatorWatch(TorchDispatchMode):
    """Notes operators, and follows which tensors hold values that come from an input.

    Args:
        log: Where hazards go.
        module: Its parameters and buffers must not be written to.
        inputs: Nor its inputs, by name.
    """

    def __init__(self, log: HazardLog, module: nn.Module, inputs: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self._log = log
        self._owners: dict[int, str] = {}
        for name, tensor in (*module.named_parameters(), *module.named_buffers()):
            self._own(tensor, f"{'parameter' if isinstance(tensor, nn.Parameter) else 'buffer'} {name!r}")
        for name, tensor in inputs.items():
            self._own(tensor, f"input {name!r}")
        self._from_input = {key for key in map(_storage, inputs.values()) if key is not None}
        self.autocast = False
        """Whether autocast is at work, which cannot be seen from within an operator."""
        self._regions: set[tuple[str, int]] = set()

    def from_input(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor's values come from an input; where it has no storage to tell by, they may."""
        key = _storage(tensor)
        return key is None or key in self._from_input

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operator and note what it was."""
        kwargs = kwargs or {}
        given = _arguments(func, args, kwargs)
        result = func(*args, **kwargs)
        self._follow(given, result)
        off = any(name in given and given[name] == value for name, value in _OFF.items())
        if torch.Tag.nondeterministic_seeded in func.tags and not off:
            self._log.see("random", f"draws random numbers ({func.overloadpacket.__name__})", sys._getframe(1))  # noqa: SLF001  # the caller's frame
        if func._schema.is_mutable and not off:  # noqa: SLF001  # as above
            self._writes(func, given)
        if _unknown_size(func, given):
            self._log.see("dynamic-output", "has a size that depends on values", sys._getframe(1))  # noqa: SLF001  # as above
        if func is torch.ops.aten._to_copy.default:  # noqa: SLF001  # what every cast becomes
            self._cast(given["self"], result)
        return result

    def _own(self, tensor: torch.Tensor, name: str) -> None:
        key = _storage(tensor)
        if key is not None:
            self._owners.setdefault(key, name)

    def _follow(self, given: Mapping[str, Any], result: Any) -> None:
        sources = {key for key in map(_storage, _tensors(given.values())) if key is not None}
        reached = not sources.isdisjoint(self._from_input)
        for key in filter(None, map(_storage, _tensors([result]))):
            if reached:
                self._from_input.add(key)
            elif key not in sources:
                # A storage that was freed may have left its address to this one.
                self._from_input.discard(key)

    def _writes(self, func: Any, given: Mapping[str, Any]) -> None:
        written = [
            each.name
            for each in func._schema.arguments  # noqa: SLF001  # as above
            if each.alias_info is not None and each.alias_info.is_write
        ]
        for tensor in _tensors(given.get(name) for name in written):
            owner = self._owners.get(_storage(tensor) or 0)
            if owner is not None:
                kind = "input-write" if owner.startswith("input") else "write"
                self._log.see(kind, f"writes to the {owner} in place", sys._getframe(2))  # noqa: SLF001  # as above

    def _cast(self, source: torch.Tensor, result: torch.Tensor) -> None:
        narrow = result.is_floating_point() and result.itemsize <= _HALF_BYTES < source.itemsize
        if not narrow or not source.is_floating_point():
            return
        frame = sys._getframe(2)  # noqa: SLF001  # as above
        dtype = str(result.dtype).removeprefix("torch.")
        place = self._log.places.at(frame)
        region = place.file, place.function
        if not self.autocast:
            self._log.add("precision", f"computes in {dtype}", place)
        elif region not in self._regions:  # its first operator stands for all of a function's
            self._regions.add(region)
            self._log.add("precision", f"computes in {dtype} under autocast", place)


def _arguments(func: Any, args: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """What an operator is called with by name, defaults included."""
    known = func._schema.arguments  # noqa: SLF001  # dispatch modes are given schemas
    defaults = {each.name: each.default_value for each in known if each.has_default_value()}
    return defaults | {each.name: value for each, value in zip(known, args, strict=False)} | dict(kwargs)


def _unknown_size(func: Any, given: Mapping[str, Any]) -> bool:
    if torch.Tag.dynamic_output_shape not in func.tags or given.get("output_size") is not None:
        return False
    if func is torch.ops.aten.index.Tensor:
        return any(each is not None and each.dtype in (torch.bool, torch.uint8) for each in given["indices"])
    return True


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _storage(tensor: torch.Tensor) -> int | None:
    """Which memory a tensor lies in; None for one that has none of its own, such as a sparse one."""
    try:
        return int(tensor.untyped_storage()._cdata)  # noqa: SLF001  # the address of the storage itself
    except (NotImplementedError, RuntimeError):
        return None
