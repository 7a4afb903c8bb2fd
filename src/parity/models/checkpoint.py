"""Reading a checkpoint into a module, without ever running what the file might contain."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from parity.errors import ModelError, did_you_mean
from parity.models.kinds import check_checkpoint

STATE_KEYS = ("state_dict", "model_state_dict", "model", "net", "ema")
"""Where training scripts keep the weights among other things; the first that holds tensors is taken."""

_SHOWN = 5


def load_weights(module: nn.Module, path: Path, *, trust_pickle: bool = False) -> tuple[str, ...]:
    """Load a checkpoint into a module, every key or none; returns what a reader should know of it.

    Raises:
        ModelError: the file is missing, damaged, no checkpoint, refused because it would run code, or
            its keys do not fit the module.
    """
    held = read_checkpoint(path, trust_pickle=trust_pickle)
    state, notes = _state_dict(held, path)
    expected = module.state_dict()
    wrong = [
        f"{key}: {_shape(state[key])} in the file, {_shape(value)} in the model"
        for key, value in expected.items()
        if key in state and _shape(state[key]) != _shape(value)
    ]
    missing = sorted(expected.keys() - state.keys())
    unexpected = sorted(state.keys() - expected.keys())
    if wrong or missing or unexpected:
        raise ModelError(
            "the checkpoint does not fit the model",
            where=str(path),
            allowed=f"the {len(expected)} keys of {type(module).__name__}",
            got="; ".join(_keys(missing, unexpected, wrong)),
            hint="check --arch and its arguments; "
            + (did_you_mean(missing[0], unexpected) if missing and unexpected else "nothing is loaded in part"),
        )
    module.load_state_dict(state)
    return notes


def _shape(value: Any) -> str:
    return str(list(value.shape)) if isinstance(value, torch.Tensor) else type(value).__name__


def _keys(missing: list[str], unexpected: list[str], wrong: list[str]) -> list[str]:
    parts = (("missing", missing), ("unexpected", unexpected), ("wrong shape", wrong))
    return [
        f"{len(keys)} {what} ({', '.join(keys[:_SHOWN])}{', …' if len(keys) > _SHOWN else ''})"
        for what, keys in parts
        if keys
    ]


def read_checkpoint(path: Path, *, trust_pickle: bool = False) -> Any:
    """What a checkpoint holds: tensors and plain values only, or anything at all where it is trusted.

    Raises:
        ModelError: the file is missing, damaged, no checkpoint, or would run code when it is read.
    """
    check_checkpoint(path)
    if path.suffix == ".safetensors":
        return _read_safetensors(path)
    try:
        return torch.load(path, map_location="cpu", weights_only=not trust_pickle)
    except pickle.UnpicklingError as error:
        raise _refused(path, error) from error
    except (RuntimeError, OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(f"the model file is damaged or truncated: {first}", where=str(path)) from error


def _refused(path: Path, error: pickle.UnpicklingError) -> ModelError:
    reason = next((line for line in str(error).splitlines() if "GLOBAL" in line or "global" in line), str(error))
    return ModelError(
        "the model file holds more than tensors, and reading it would run code of its own",
        where=str(path),
        got=reason.strip()[:200],
        hint="save model.state_dict() instead, or add --trust-pickle if you trust whoever made the file",
    )


def _read_safetensors(path: Path) -> Any:
    from safetensors import SafetensorError  # noqa: PLC0415  # only for files of its kind
    from safetensors.torch import load_file  # noqa: PLC0415

    try:
        return load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelError(f"the safetensors file is damaged: {error}", where=str(path)) from error


def _copied(state: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with the versions of its modules, which some of them refuse to be loaded without."""
    copied = OrderedDict(state)
    metadata = getattr(state, "_metadata", None)
    if metadata is not None:
        copied._metadata = metadata  # type: ignore[attr-defined]  # where torch keeps it  # noqa: SLF001
    return copied


def _state_dict(held: Any, path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    if isinstance(held, nn.Module):
        return held.state_dict(), (f"weights taken from a pickled {type(held).__name__}",)
    if isinstance(held, Mapping):
        if held and all(isinstance(value, torch.Tensor) for value in held.values()):
            return _copied(held), ()
        for key in STATE_KEYS:
            inner = held.get(key)
            if isinstance(inner, Mapping) and any(isinstance(value, torch.Tensor) for value in inner.values()):
                beside = [str(other) for other in held if other != key]
                return _copied(inner), (f"weights taken from {key!r}; beside it: {', '.join(beside) or 'nothing'}",)
        got = f"a dictionary with {', '.join(map(repr, list(held)[:_SHOWN])) or 'nothing'}"
    else:
        got = type(held).__name__
    raise ModelError(
        "no weights were found in the model file",
        where=str(path),
        allowed=f"a state_dict, or one under {', '.join(map(repr, STATE_KEYS))}",
        got=got,
    )
