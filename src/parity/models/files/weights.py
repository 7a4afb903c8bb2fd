"""Where the weights lie among what a training script saved."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from parity.models.wording import listed

STATE_KEYS = (
    "state_dict", "model_state_dict", "model", "net", "network", "module", "state", "weights", "params", "parameters",
    "generator", "encoder", "backbone", "ema", "model_ema", "ema_model", "state_dict_ema", "ema_state_dict",
    "params_ema", "teacher", "student",
)  # fmt: skip
"""Where training scripts keep the weights among other things, in the order in which they are taken. What was
trained comes before the average of it (`ema`): the average is not always kept, nor always the better one."""

NOT_WEIGHTS = frozenset({"amp", "args", "cfg", "grad", "history", "loops", "random", "rng", "scaler", "stats"})
NOT_WEIGHTS_BEGIN = ("optim", "sched", "callback", "hparam", "hyper", "config", "metric")
"""Words, and beginnings of words, in the names of what is kept beside weights and may hold tensors as well."""

NO_TENSORS = ("_extra_state", "_packed_params", "_packed_params.dtype")
"""How keys of a state_dict end whose values need be no tensors: `nn.Module.get_extra_state`, and quantized layers."""

_DEPTH = 3
"""Levels of dictionaries that are searched: `{"ema": {"module": {"state_dict": …}}}`."""


@dataclass(frozen=True)
class Candidate:
    """Tensors by name, and where they lie; `left` are entries beside them that are no tensors."""

    path: tuple[str, ...]
    tensors: Mapping[str, Any]
    left: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its keys, such as `ema.module`; empty for the file itself."""
        return ".".join(self.path)


def find_weights(held: Any) -> tuple[Candidate, ...]:
    """Every state_dict and module in what a file holds, in the order in which they are taken; never an optimizer's."""
    found: dict[int, Candidate] = {}
    for candidate in _candidates(held, (), _DEPTH):
        found.setdefault(id(candidate.tensors), candidate)
    return tuple(found.values())


def _candidates(held: Any, path: tuple[str, ...], depth: int) -> Iterator[Candidate]:
    if isinstance(held, nn.Module):
        yield Candidate(path, held.state_dict())
        return
    if isinstance(held, (list, tuple)):
        # A pair of weights and an optimizer's state is saved now and then; tensors in a row have no names.
        held = {str(number): each for number, each in enumerate(held) if not isinstance(each, Tensor)}
    if not isinstance(held, Mapping) or not held or _is_optimizer(held):
        return
    tensors = [key for key, value in held.items() if isinstance(key, str) and isinstance(value, Tensor)]
    others = [key for key in held if key not in tensors and not str(key).endswith(NO_TENSORS)]
    if tensors and not others:
        yield Candidate(path, held)
        return
    if depth:
        inner = [
            candidate
            for key in sorted((key for key in others if not _beside(str(key))), key=_rank)
            for candidate in _candidates(held[key], (*path, str(key)), depth - 1)
        ]
        yield from inner
        if inner:
            return
    if tensors:
        yield Candidate(path, _without(held, others), tuple(map(str, others)))


def _without(held: Mapping[Any, Any], others: list[Any]) -> dict[str, Any]:
    kept = OrderedDict((key, value) for key, value in held.items() if key not in others)
    copy_versions(held, kept)
    return kept


def _is_optimizer(held: Mapping[Any, Any]) -> bool:
    return "param_groups" in held or "base_optimizer_state" in held


def _beside(key: str) -> bool:
    words = re.split(r"[^a-z]+", key.lower())
    return key not in STATE_KEYS and any(word in NOT_WEIGHTS or word.startswith(NOT_WEIGHTS_BEGIN) for word in words)


def _rank(key: Any) -> int:
    return STATE_KEYS.index(key) if key in STATE_KEYS else len(STATE_KEYS)


def copy_versions(source: Mapping[str, Any], target: dict[str, Any], prefix: str = "") -> None:
    """Keep what `state_dict` says of the versions of its modules, without which some refuse to be loaded.

    `prefix` (`module.`) is what was removed from the keys: the names of modules have it as well.
    """
    metadata = getattr(source, "_metadata", None)
    if isinstance(metadata, Mapping):
        named = {f"{name}."[len(prefix) :].rstrip("."): each for name, each in metadata.items() if
                 f"{name}.".startswith(prefix)}  # fmt: skip
        target._metadata = OrderedDict(named)  # type: ignore[attr-defined]  # where torch keeps it  # noqa: SLF001


def notes_on(tensors: Mapping[str, Any]) -> tuple[str, ...]:
    """What a reader should know of the values: those that are not finite."""
    broken = [name for name, tensor in tensors.items() if isinstance(tensor, Tensor) and not _finite(tensor)]
    return (f"weights that are not finite: {listed(broken, 1)}",) if broken else ()


def _finite(tensor: Tensor) -> bool:
    """Whether all values are, where they are plain numbers. The extremes tell it in one pass: NaN is both of them."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    if not tensor.is_floating_point() or tensor.layout != torch.strided or tensor.is_meta or not tensor.numel():
        return True
    extremes = torch.aminmax(tensor.detach().to(torch.float32) if tensor.element_size() == 1 else tensor.detach())
    return all(bool(torch.isfinite(extreme)) for extreme in extremes)
