"""Watches for tensors whose values are read into Python, and for layers that are told to train."""

from __future__ import annotations

import inspect
import sys
from types import FrameType
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from parity.models.hazards.log import HazardLog
from parity.models.hazards.operators import OperatorWatch
from parity.models.hazards.places import caller

_READS = "reads a tensor's value into Python"
_KINDS = {
    "__bool__": "branch", "is_nonzero": "branch", "__contains__": "branch", "equal": "branch", "allclose": "branch",
    "__int__": "value", "__float__": "value", "__complex__": "value", "__index__": "value", "item": "value",
    "tolist": "value", "numpy": "numpy", "__array__": "numpy",
}  # fmt: skip

_DROPOUTS = frozenset({
    functional.dropout, functional.dropout1d, functional.dropout2d, functional.dropout3d,
    functional.alpha_dropout, functional.feature_alpha_dropout,
})  # fmt: skip


class ReadWatch(TorchFunctionMode):
    """Notes each read of a value.

    Args:
        log: Where hazards go.
        operators: Knows whether a tensor's value comes from an input; what is constant a trace may well keep.
    """

    def __init__(self, log: HazardLog, operators: OperatorWatch) -> None:
        super().__init__()
        self._log = log
        self._operators = operators
        self._from_input = operators.from_input

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note what the function does, and run it."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in _KINDS:
            self._read(_KINDS[name], args, caller(sys._getframe(1)))  # noqa: SLF001  # the caller's frame
        elif func in _DROPOUTS or func is functional.batch_norm:
            self._train(func, args, kwargs, caller(sys._getframe(1)))  # noqa: SLF001  # the caller's frame
        elif name == "__getitem__" and any(self._is_read(each) for each in _bounds(args[1])):
            self._log.see("check", f"{_READS}, as a bound of a slice", sys._getframe(1))  # noqa: SLF001  # as above
        self._operators.autocast = torch.is_autocast_enabled("cpu")
        return func(*args, **kwargs)

    def _read(self, kind: str, args: Any, frame: FrameType) -> None:
        tensors = [each for each in args if isinstance(each, torch.Tensor)]
        if any(self._from_input(each) for each in tensors):
            self._log.see_value(kind, _READS, frame)
        elif kind == "branch":
            self._log.see("check", "branches on a tensor, though no input reaches it", frame)

    def _is_read(self, bound: Any) -> bool:
        return isinstance(bound, torch.Tensor) and self._from_input(bound)

    def _train(self, func: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        given = inspect.signature(func).bind(*args, **kwargs)
        given.apply_defaults()
        values = given.arguments
        if not values["training"] or values.get("p") == 0:
            return
        if func is not functional.batch_norm:
            self._log.see("training", "drops values at random, although the model is in eval mode", frame)
        elif values["running_mean"] is not None:
            self._log.see("training", "updates running statistics, although the model is in eval mode", frame)


def _bounds(index: Any) -> list[Any]:
    parts = index if isinstance(index, tuple) else (index,)
    return [bound for part in parts if isinstance(part, slice) for bound in (part.start, part.stop, part.step)]
