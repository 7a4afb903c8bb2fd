"""The longest reduction of an eager pass: how many terms the longest sum had."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_REDUCE = frozenset(
    {"sum", "mean", "var", "var_mean", "std", "std_mean", "prod", "logsumexp", "norm", "linalg_vector_norm",
     "_softmax", "_log_softmax", "native_layer_norm", "native_group_norm", "native_batch_norm",
     "_adaptive_avg_pool2d", "avg_pool2d", "cumsum", "cumprod", "logcumsumexp"}
)  # fmt: skip
_PRODUCT = frozenset({"mm", "addmm", "bmm", "baddbmm", "addmv", "mv", "dot", "matmul", "linear"})


class _Watch(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.longest = 1

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        self.longest = max(self.longest, _terms(func.overloadpacket.__name__, args, result))
        return result


def _terms(op: str, args: tuple[Any, ...], result: Any) -> int:
    tensors = [value for value in args if isinstance(value, torch.Tensor)]
    if not tensors:
        return 1
    if "convolution" in op:
        return math.prod(tensors[1].shape[1:])
    if op in _PRODUCT:
        left = tensors[-2] if len(tensors) > 1 else tensors[0]
        return left.shape[-1] if left.ndim else 1
    if "scaled_dot_product" in op and len(tensors) > 1:
        return max(tensors[0].shape[-1], tensors[1].shape[-2])
    if "lstm" in op or "gru" in op or "rnn" in op:
        return max((tensor.shape[-1] for tensor in tensors if tensor.ndim), default=1)
    if op in ("cumsum", "cumprod", "logcumsumexp", "_softmax", "_log_softmax") and len(args) > 1:
        return tensors[0].shape[args[1]] if tensors[0].ndim else 1
    if op in _REDUCE:
        out = result[0] if isinstance(result, tuple) else result
        if op.startswith("native_"):
            return math.prod(tensors[0].shape[1:])
        return tensors[0].numel() // max(out.numel(), 1) if isinstance(out, torch.Tensor) else 1
    return 1


@contextmanager
def watch_reductions() -> Iterator[Callable[[], int]]:
    """Observe the operators of an eager pass; yields a function that tells the longest so far."""
    watch = _Watch()
    with watch:
        yield lambda: watch.longest
