"""Putting weights into a module: all keys, or those that were allowed to be left out."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from parity.errors import ModelError
from parity.models.files.history import fit_names_of_any_age, note_on_old
from parity.models.files.keys import Renamed
from parity.models.files.misfits import Misfits, advice, counted, left_out, misfits, named_by, table
from parity.models.files.weights import copy_versions
from parity.models.wording import listed, typed

_COUNTERS = ("num_batches_tracked",)
"""Buffers that checkpoints of before torch 0.4 lack, and that eval mode never reads."""

_AVERAGED = "n_averaged"
"""What `torch.optim.swa_utils.AveragedModel` keeps beside the module that it wraps."""


def load_state(
    module: nn.Module, tensors: Mapping[str, Tensor], path: Path, allow_missing: Sequence[str] = ()
) -> tuple[str, ...]:
    """Load weights into a module, every key or none; returns what a reader should know.

    Args:
        module: What the weights are loaded into.
        tensors: The weights by the names that the file has for them.
        path: The file, for messages.
        allow_missing: Patterns of keys that may be left out.

    Raises:
        ModelError: they do not fit the module, or are no plain tensors.
        UsageError: a pattern allows nothing.
    """
    expected = module.state_dict()
    renamed, old = fit_names_of_any_age(tensors, expected.keys(), named_by(allow_missing, tensors))
    state: dict[str, Any] = OrderedDict((renamed.names[key], value) for key, value in tensors.items())
    copy_versions(tensors, state, renamed.removed[0] if len(renamed.removed) == 1 else "")
    notes = [*renamed.notes, *note_on_old(old)]
    if renamed.removed and _AVERAGED in state and _AVERAGED not in expected:
        del state[_AVERAGED]
        notes.append("the weights are an average that torch.optim.swa_utils made")
    notes += _leave_out_own(module, state, expected)
    _check_plain(state, expected, path)
    found = misfits(*({key: _shape(value) for key, value in each.items()} for each in (expected, state)))
    allowed = left_out(found, allow_missing)
    rest = found.without(allowed)
    tied = _tied(rest.missing, expected, state)
    state.update({key: state[other] for key, other in tied.items()})
    counters = tuple(key for key in rest.missing if key.endswith(_COUNTERS))
    rest = rest.without((*tied, *counters))
    for key in (*allowed, *counters):
        state.pop(key, None)
        if key in expected:
            state[key] = expected[key]
    before = _copied(expected) if rest else {}
    try:
        try:
            module.load_state_dict(state)
        except (RuntimeError, ValueError):
            # Some modules refuse weights that do not say their version, which safetensors has no place for.
            if rest or getattr(state, "_metadata", None) is not None:
                raise
            copy_versions(expected, state)
            module.load_state_dict(state)
            notes.append("the file does not say which version of the module wrote it: it is taken for the one here")
    except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
        for key, value in before.items():
            expected[key].copy_(value)
        raise _misfit(module, rest, renamed, path, error) from error
    if rest:
        # Its hooks know, for one, how an older version of the module named its weights.
        notes.append(f"these keys fit by the module's own loading code alone: {listed(rest.keys)}")
    if tied:
        notes.append(f"the module shares these with others, which the file has: {listed(tied)}")
    notes += _left_out_notes(found, allowed, counters)
    notes += _dtype_notes(expected, state)
    return tuple(notes)


def _leave_out_own(module: nn.Module, state: dict[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Take out what the module makes itself, and what its class declares to be of no use to it; says so.

    Older versions of transformers' classes kept their positions in a file, which are buffers that are not saved now.
    """
    made = {key: buffer for key, buffer in module.named_buffers() if key not in expected}
    patterns: Iterable[str] = getattr(module, "_keys_to_ignore_on_load_unexpected", None) or ()
    unexpected = [key for key in state if key not in expected]
    own = [key for key in unexpected if key in made and _same(state[key], made[key])]
    own += [key for key in unexpected if key not in own and any(re.search(pattern, key) for pattern in patterns)]
    for key in own:
        del state[key]
    return [f"the module makes or leaves out these keys of the file itself: {listed(own)}"] if own else []


def _same(value: Any, buffer: Tensor) -> bool:
    return isinstance(value, Tensor) and value.shape == buffer.shape and torch.equal(value.to(buffer.dtype), buffer)


def _copied(state: Mapping[str, Any]) -> dict[str, Tensor]:
    """Copies of the values that a failed attempt may have overwritten."""
    lazy = nn.parameter.is_lazy
    return {key: value.clone() for key, value in state.items() if isinstance(value, Tensor) and not lazy(value)}


def _tied(missing: Sequence[str], expected: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, str]:
    """Missing keys whose tensor is that of a key that the file has: safetensors keeps a shared tensor once."""
    if not missing:
        return {}
    kept = {_place(value): key for key, value in expected.items() if key in state}
    return {key: kept[place] for key in missing if (place := _place(expected[key])) is not None and place in kept}


def _place(value: Any) -> tuple[int, tuple[int, ...]] | None:
    plain = isinstance(value, Tensor) and not nn.parameter.is_lazy(value) and value.layout == torch.strided
    return (value.data_ptr(), tuple(value.shape)) if plain and not value.is_meta and value.numel() else None


def _shape(value: Any) -> str:
    if isinstance(value, Tensor) and nn.parameter.is_lazy(value):
        return "any shape"
    return str(list(value.shape)) if isinstance(value, Tensor) else type(value).__name__


def _check_plain(state: Mapping[str, Any], expected: Mapping[str, Any], path: Path) -> None:
    for key, value in state.items():
        if not isinstance(value, Tensor):
            continue
        own = expected.get(key)
        if value.is_meta:
            what, hint = "have a shape and no values (device meta)", "save the model after its weights are loaded"
        elif value.layout != torch.strided and getattr(own, "layout", torch.strided) == torch.strided:
            what, hint = "are sparse, and the module's are dense", "save them with .to_dense()"
        elif value.is_quantized and not getattr(own, "is_quantized", False):
            what, hint = "are quantized, and the module's are not", "judge the float model, and this one as --artifact"
        else:
            continue
        raise ModelError(f"the weights {what}", where=str(path), allowed="tensors with values, as the module has them",
                         got=key, hint=hint)  # fmt: skip


def _misfit(module: nn.Module, found: Misfits, renamed: Renamed, path: Path, error: Exception) -> ModelError:
    name = type(module).__name__
    if not found:
        first = next((line.strip() for line in str(error).splitlines()[1:] if line.strip()), str(error))
        return ModelError(f"{name} refuses the weights: {first}", where=str(path), hint="check the version of --arch")
    rows = table(found).replace("\n", "\n" + " " * 11)
    after = f", after {renamed.notes[0]}" if renamed.removed else ""
    return ModelError(
        "the checkpoint does not fit the model",
        where=str(path),
        allowed=f"the {len(found.module)} keys of {name}",
        got=f"{counted(found)}{after}\n{' ' * 11}{rows}",
        hint=_part_of_several(path) or advice(found),
    )


def _part_of_several(path: Path) -> str | None:
    """What to do with one of the files that large models are split into; their names say so, and nothing in them."""
    numbers = re.search(r"-(\d+)-of-(\d+)\b", path.name)
    if numbers is None:
        return None
    folder = typed(Path(f"transformers:{path.parent}"))
    return f"this is file {int(numbers[1])} of {int(numbers[2])}: give their folder, --arch {folder}"


def _left_out_notes(found: Misfits, allowed: Sequence[str], counters: Sequence[str]) -> list[str]:
    kept = [key for key in allowed if key in found.module]
    dropped = [key for key in allowed if key not in found.module]
    notes = []
    if kept:
        notes.append(f"not from the file, but as the factory makes them: {listed(kept)}")
    if dropped:
        notes.append(f"in the file, and not loaded: {listed(dropped)}")
    if counters:
        notes.append(f"the file has no {_COUNTERS[0]} for {len(counters)} layers, which eval mode does not use")
    return notes


def _dtype_notes(expected: Mapping[str, Any], state: Mapping[str, Any]) -> list[str]:
    changed = Counter(
        (str(state[key].dtype).removeprefix("torch."), str(own.dtype).removeprefix("torch."))
        for key, own in expected.items()
        if isinstance(own, Tensor) and isinstance(state.get(key), Tensor) and own.dtype != state[key].dtype
    )
    return [
        f"{count} weights are {held} in the file and {own} in the module: they were converted"
        for (held, own), count in changed.items()
    ]
