"""The oracle: the same module in float64, in which its own rounding is too small to matter."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from parity.arrays import Array
from parity.workers.calling import call_module

if TYPE_CHECKING:
    from typing_extensions import Self

_SAME_DIGITS = 2.0**-12
"""An oracle that overrides dtypes has to agree with eager in half of the digits of float32. One that does not
computes something else, since a dtype that `forward` names may mean more than its precision."""


@dataclass(frozen=True)
class Oracle:
    """A module in float64; with `overrides`, every float32 that `forward` names is float64 as well."""

    module: nn.Module
    overrides: bool = False

    def __call__(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs by name for inputs in the model's own dtypes; raises whatever the module raises."""
        with ExitStack() as stack:
            if self.overrides:
                stack.enter_context(_Float64Everywhere())
            return call_module(self.module, widened(inputs))


def make_oracle(
    module: nn.Module, inputs: Mapping[str, Array], eager: Mapping[str, Array]
) -> tuple[Oracle | None, str | None]:
    """The module in float64, or the reason why there is none: it cannot run, or does not stay in float64.

    Where `forward` names float32 itself, a second attempt overrides it.

    Args:
        module: The model; it is copied.
        inputs: One call of it.
        eager: What the model itself returned for them.
    """
    try:
        wide = _widened_module(module)
    except Exception as error:  # noqa: BLE001  # what cannot be copied has no oracle; the fallback takes over
        return None, _reason(error)
    plain = _attempt(Oracle(wide), inputs)
    if plain is None:
        return Oracle(wide), None
    overriding = Oracle(wide, overrides=True)
    if _attempt(overriding, inputs) is None and _agrees(overriding(inputs), eager):
        return overriding, None
    return None, plain


def _attempt(oracle: Oracle, inputs: Mapping[str, Array]) -> str | None:
    """Why this is no oracle, or None."""
    try:
        produced = oracle(inputs)
    except Exception as error:  # noqa: BLE001  # a custom operator may raise anything; the fallback takes over
        return _reason(error)
    for name, array in produced.items():
        if array.dtype != widest(array.dtype):
            return f"the output {name!r} stays {array.dtype.name} in a float64 module"
    return None


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), '')[:200]}"


def _agrees(exact: Mapping[str, Array], eager: Mapping[str, Array]) -> bool:
    for name, array in eager.items():
        other = exact.get(name)
        if other is None or other.shape != array.shape:
            return False
        if array.dtype.kind in "fc" and array.size:
            scale = float(np.max(np.abs(other), initial=0.0, where=np.isfinite(other)))
            if not np.allclose(array, other, rtol=_SAME_DIGITS, atol=_SAME_DIGITS * scale, equal_nan=True):
                return False
    return True


def _widened_module(module: nn.Module) -> nn.Module:
    """A copy with float64 and complex128 parameters, buffers, and tensors that are kept as plain attributes."""
    wide = copy.deepcopy(module).double()
    wide._apply(_widened_tensor)  # noqa: SLF001  # what `double` is made of; it leaves complex numbers alone
    for each in wide.modules():
        for name, value in vars(each).items():
            if isinstance(value, torch.Tensor):
                setattr(each, name, _widened_tensor(value))
    return wide


def _widened_tensor(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.double() if tensor.is_floating_point() else tensor


def widened(inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Float inputs in float64, complex ones in complex128, the rest as they are."""
    return {name: array.astype(widest(array.dtype)) for name, array in inputs.items()}


def widest(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The dtype of the oracle for a dtype of the model."""
    wide: dict[str, np.dtype[np.generic]] = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}
    return wide.get(dtype.kind, dtype)


_WIDE_DTYPES = {torch.float32: torch.float64, torch.complex64: torch.complex128}
_WIDE_CASTS: Mapping[Any, Callable[..., Any]] = {torch.Tensor.float: torch.Tensor.double}


class _Float64Everywhere(TorchFunctionMode):
    """Replaces float32 by float64 wherever code asks for it: casts, `dtype=`, and what factories return by default."""

    def __enter__(self) -> Self:
        self._default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        super().__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        torch.set_default_dtype(self._default)

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        wide = _WIDE_CASTS.get(func, func)
        given = {name: _wide_dtype(value) for name, value in (kwargs or {}).items()}
        return wide(*map(_wide_dtype, args), **given)


def _wide_dtype(value: Any) -> Any:
    return _WIDE_DTYPES.get(value, value) if isinstance(value, torch.dtype) else value
