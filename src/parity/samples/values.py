"""Numbers as people hand them over (arrays, tensors, lists, single numbers) become NumPy arrays."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from parity.arrays import Array
from parity.errors import SampleError

_NUMBER = (int, float, complex)
_NUMBERS = "biufc"


def is_tensor(value: object) -> bool:
    """Whether it is a torch tensor. Where torch was never imported, nothing is one."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def apart(value: Any) -> Any:
    """The tensors of a nested tensor as a list, since they differ in size; anything else as it is."""
    return list(value.unbind()) if is_tensor(value) and value.is_nested else value


def is_array(value: object) -> bool:
    """Whether it is a tensor, or a NumPy array or scalar: something that has a dtype and a shape."""
    return isinstance(value, np.ndarray | np.generic) or is_tensor(value)


def is_image(value: object) -> bool:
    """Whether it is a picture of Pillow's."""
    return any(kind.__module__.startswith("PIL.") for kind in type(value).__mro__)


def is_plain(value: object) -> bool:
    """Whether these are numbers without a dtype, as Python's and those of JSON are: any that holds them will do."""
    return isinstance(value, _NUMBER) or (isinstance(value, list | tuple) and all(map(is_plain, value)))


def array_of(value: Any, where: str) -> Array:
    """The numbers of a value, in native byte order; `bfloat16` as float32, which holds each of them.

    Raises:
        SampleError: these are no numbers; the message names `where`.
    """
    if is_image(value):
        hint = "turn it into an array, or say how with --preprocess torchvision:WEIGHTS or package.module:function"
        raise _no_numbers(value, where, hint)
    if value is None or isinstance(value, str | bytes | Mapping | set):
        raise _no_numbers(
            value, where, "tokens are integers: run the tokenizer first" if isinstance(value, str) else ""
        )
    try:
        if is_tensor(value):
            array = _from_tensor(value)
        elif isinstance(value, list | tuple) and any(map(is_array, value)):
            array = np.stack([array_of(each, where) for each in value])
        else:
            array = np.asarray(value)
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise SampleError(f"the numbers of a sample make no array: {first}", where=where) from error
    if array.dtype.kind not in _NUMBERS:
        raise _no_numbers(value, where, "")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _from_tensor(value: Any) -> Array:
    import torch  # noqa: PLC0415  # only where somebody made a tensor, so it is imported already

    dense = value.detach().cpu()
    if dense.is_quantized:
        dense = dense.dequantize()
    if dense.layout is not torch.strided:
        dense = dense.to_dense()
    if dense.dtype is torch.bfloat16:
        dense = dense.float()
    array: Array = dense.resolve_conj().resolve_neg().numpy()
    return array


def _no_numbers(value: object, where: str, hint: str) -> SampleError:
    text = repr(value)
    got = f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"  # noqa: PLR2004  # one line of a message
    return SampleError(
        "a value of a sample is no array of numbers", where=where, allowed="an array, a tensor, a number or a list",
        got=got, hint=hint or None,
    )  # fmt: skip
