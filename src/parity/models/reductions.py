"""The longest reduction of an eager pass: how many terms the longest sum had."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

Rule = Callable[[tuple[Any, ...], Any], int]
"""The number of terms that one number of the result was summed from, by arguments and result."""


def _tensors(args: tuple[Any, ...]) -> list[torch.Tensor]:
    flat = [each for value in args for each in (value if isinstance(value, (tuple, list)) else (value,))]
    return [each for each in flat if isinstance(each, torch.Tensor)]


def _shrunk(args: tuple[Any, ...], result: Any) -> int:
    out = result[0] if isinstance(result, tuple) else result
    return int(args[0].numel()) // max(int(out.numel()), 1)


def _windows(args: tuple[Any, ...], result: Any) -> int:
    return math.prod(-(-size // max(out, 1)) for size, out in zip(args[0].shape, result.shape, strict=True))


def _kernel(args: tuple[Any, ...], _: Any) -> int:
    return math.prod(args[1])


def _along(args: tuple[Any, ...], _: Any) -> int:
    return int(args[0].shape[args[1]]) if args[0].ndim else 1


def _added(args: tuple[Any, ...], _: Any) -> int:
    source = _tensors(args)[-1]
    return int(source.shape[args[1]]) if source.ndim else 1


def _inner(args: tuple[Any, ...], _: Any) -> int:
    """The left of the last two factors; what comes before them is added once. A bias follows `linear`'s."""
    left = _tensors(args)[-2]
    return int(left.shape[-1]) if left.ndim else 1


def _first_last(args: tuple[Any, ...], _: Any) -> int:
    return int(args[0].shape[-1]) if args[0].ndim else 1


def _convolution(args: tuple[Any, ...], _: Any) -> int:
    return math.prod(args[1].shape[1:])


def _transposed(args: tuple[Any, ...], _: Any) -> int:
    weight = args[1].shape
    return math.prod((weight[0], *weight[2:]))


def _any_convolution(args: tuple[Any, ...], result: Any) -> int:
    return (_transposed if args[6] else _convolution)(args, result)


def _normalized(args: tuple[Any, ...], _: Any) -> int:
    return math.prod(args[1])


def _group(args: tuple[Any, ...], _: Any) -> int:
    return int(args[0].numel()) // max(int(args[0].shape[0]) * int(args[1]), 1)


def _native_group(args: tuple[Any, ...], _: Any) -> int:
    return int(args[4]) * int(args[5]) // max(int(args[6]), 1)


def _batch(args: tuple[Any, ...], _: Any) -> int:
    """Statistics are summed in training mode alone; in eval mode they are given."""
    return int(args[0].numel()) // max(int(args[0].shape[1]), 1) if args[5] else 1


def _instance(args: tuple[Any, ...], _: Any) -> int:
    return math.prod(args[0].shape[2:]) if args[5] else 1


def _attention(args: tuple[Any, ...], _: Any) -> int:
    query, key = args[:2]
    return max(int(query.shape[-1]), int(key.shape[-2]))


def _fused(args: tuple[Any, ...], _: Any) -> int:
    """Recurrent and transformer layers in one operator: the widest product, or the attended sequence."""
    return max([*(int(each.shape[-1]) for each in _tensors(args) if each.ndim > 1), *map(int, args[0].shape[1:2])])


def _rules(rule: Rule, *names: str) -> dict[str, Rule]:
    return dict.fromkeys(names, rule)


_RULES: Mapping[str, Rule] = {
    **_rules(_shrunk, "sum", "nansum", "mean", "nanmean", "var", "var_mean", "std", "std_mean", "prod", "logsumexp",
             "norm", "linalg_vector_norm"),
    **_rules(_windows, "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"),
    **_rules(_kernel, "avg_pool1d", "avg_pool2d", "avg_pool3d"),
    **_rules(_along, "cumsum", "cumprod", "logcumsumexp", "softmax", "log_softmax"),
    **_rules(_added, "index_add", "scatter_add", "scatter_reduce"),
    **_rules(_inner, "mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot", "vdot", "matmul"),
    **_rules(_first_last, "linear", "cdist", "cdist_forward"),
    **_rules(_convolution, "conv1d", "conv2d", "conv3d"),
    **_rules(_transposed, "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
    **_rules(_any_convolution, "convolution", "convolution_overrideable"),
    **_rules(_normalized, "layer_norm", "native_layer_norm", "rms_norm"),
    **_rules(_group, "group_norm"),
    **_rules(_native_group, "native_group_norm"),
    **_rules(_batch, "batch_norm", "native_batch_norm"),
    **_rules(_instance, "instance_norm"),
    **_rules(_fused, "lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell",
             "mkldnn_rnn_layer", "transformer_encoder_layer_fwd", "native_multi_head_attention"),
}  # fmt: skip
"""By operator, leading and trailing underscores left out. Inference mode hands over whole layers
(`conv2d`, `layer_norm`), other modes what they are made of (`convolution`, `native_layer_norm`)."""


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
        name = func.overloadpacket.__name__.strip("_")
        rule = _attention if name.startswith("scaled_dot_product") else _RULES.get(name)
        if func.namespace != "aten":
            rule = None  # somebody else's operator of the same name may take other arguments
        if rule is None:
            with self:
                # einsum and its like are made of operators that the rules know.
                parts = func.decompose(*args, **(kwargs or {}))
            return func(*args, **(kwargs or {})) if parts is NotImplemented else parts
        result = func(*args, **(kwargs or {}))
        self.longest = max(self.longest, rule(args, result))
        return result


@contextmanager
def watch_reductions() -> Iterator[Callable[[], int]]:
    """Observe the operators of an eager pass; yields a function that tells the longest so far."""
    watch = _Watch()
    with watch:
        yield lambda: watch.longest
