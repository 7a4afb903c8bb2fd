"""Reading a checkpoint into a module, without ever running what the file might contain."""

from __future__ import annotations

import contextlib
import pickle
import tarfile
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from parity.errors import ModelError, UsageError
from parity.models.files.kinds import SAFETENSORS, check_checkpoint
from parity.models.files.loading import load_state
from parity.models.files.pickles import Outline, is_plain_pickle, outline, stand_ins
from parity.models.files.refusals import is_torchs_own, oldest_format, refusal, unread, whole_module
from parity.models.files.state import ARRAYS, State, state_of
from parity.models.files.weights import STATE_KEYS, find_weights, notes_on
from parity.models.wording import listed, printable


def load_weights(
    module: nn.Module, path: Path, *, trust_pickle: bool = False, allow_missing: Sequence[str] = ()
) -> tuple[str, ...]:
    """Load a checkpoint into a module, every key or none; returns what a reader should know of it.

    Where weights lie in several places of the file, it is the first that fits the module, else all of them together.

    Args:
        module: What the weights are loaded into.
        path: The checkpoint.
        trust_pickle: Whether reading it may run code that it holds.
        allow_missing: Patterns such as `fc.*` of keys that may be left out: those that the file lacks or has in
            another shape keep the module's own values, those that the module lacks are not loaded.

    Raises:
        ModelError: the file is missing, damaged, no checkpoint, refused because it would run code, or
            its keys do not fit the module.
        UsageError: a pattern allows nothing.
    """
    state = read_state(path, trust_pickle=trust_pickle)
    try:
        return (*state.notes, *load_state(module, state.tensors, path, allow_missing))
    except (ModelError, UsageError) as error:
        for other in state.others:
            with contextlib.suppress(ModelError, UsageError):
                loaded = load_state(module, other.tensors, path, allow_missing)
                return (*other.notes, *notes_on(other.tensors), *loaded)
        if not state.notes or isinstance(error, UsageError):
            raise
        # Which of several places the weights were taken from may be what is wrong.
        got = f"\n{' ' * 11}".join(filter(None, (error.got, *state.notes)))
        raise ModelError(error.what, where=error.where, allowed=error.allowed, got=got, hint=error.hint) from error


def read_state(path: Path, *, trust_pickle: bool = False) -> State:
    """The weights that a checkpoint holds, wherever in it they lie; prefixes stay on their names.

    What is no tensor is not built: stand-ins take the place of every class. A file is read as trusted only where
    it has no weights otherwise.

    Raises:
        ModelError: the file is missing, damaged, no checkpoint, holds no weights, or would run code when it is read.
    """
    if check_checkpoint(path) == SAFETENSORS:
        tensors = _read_safetensors(path)
        return State(tensors, notes_on(tensors))
    found = _read_safely(path)
    if isinstance(found, State):
        return found
    if not trust_pickle:
        raise found
    return state_of(_read_trusted(path), path)


def read_module(path: Path) -> nn.Module | None:
    """The whole module that a trusted checkpoint holds, itself or under `model`, `ema`, …; None where it holds none.

    Reading it runs code of the file: call this only for files whose maker is trusted.

    Raises:
        ModelError: the file is missing or damaged, or a class in it cannot be imported.
    """
    if check_checkpoint(path) == SAFETENSORS:
        return None
    held = _read_trusted(path)
    places = (_at(held, candidate.path) for candidate in find_weights(held))
    return next((each for each in places if isinstance(each, nn.Module)), None)


def _at(held: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        held = held[int(key)] if isinstance(held, (list, tuple)) else held[key]
    return held


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file  # noqa: PLC0415  # only for files of its kind

    try:
        return load_file(path)
    except Exception as error:  # a header that is no dtype's, shapes that no data has
        raise ModelError("the safetensors file is damaged", where=str(path), got=str(error),
                         hint="copy it again") from error  # fmt: skip


def _read_safely(path: Path) -> State | ModelError:
    """The weights of a pickle of which nothing was run, or why they cannot be had so.

    Raises:
        ModelError: the file is damaged, or holds no weights at all.
    """
    if tarfile.is_tarfile(path):
        return oldest_format(path)
    held = outline(path)
    refused = refusal(path, held, plain=is_plain_pickle(path))
    if refused is not None:
        return refused
    try:
        with torch.serialization.safe_globals(stand_ins(held.globals, is_torchs_own)), path.open("rb") as file:
            read = _quietly(file, weights_only=True)
    except pickle.UnpicklingError as error:
        return whole_module(path, held) or _unreadable(path, error)
    except Exception as error:  # on a damaged file torch raises anything, a failed assertion as well
        raise _damaged(path, error) from error
    module = whole_module(path, held)
    if module is not None and not any(set(candidate.path) & set(STATE_KEYS) for candidate in find_weights(read)):
        # Tensors of no such name beside a whole module are anchors or statistics, not its weights.
        return module
    state = state_of(read, path, arrays=any(name.endswith(ARRAYS) for name in held.globals))
    unread_note = _unread_note(held)
    return replace(
        state,
        notes=(*state.notes, *unread_note),
        others=tuple(replace(each, notes=(*each.notes, *unread_note)) for each in state.others),
    )


def _quietly(file: Any, *, weights_only: bool) -> Any:
    with warnings.catch_warnings():
        # Warnings of the format itself; the file is as it is.
        warnings.simplefilter("ignore")
        return torch.load(file, map_location="cpu", weights_only=weights_only)


def _unread_note(held: Outline) -> tuple[str, ...]:
    names = unread(held)
    if not names:
        return ()
    return (f"objects beside the weights were not read: {listed(names)}",)


def _unreadable(path: Path, error: pickle.UnpicklingError) -> ModelError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = next((line for line in lines if "GLOBAL" in line or "Unsupported operand" in line), lines[-1])
    if "Unsupported operand" in reason:
        reason += ", of a newer pickle protocol than the one that torch.save uses by itself"
    return ModelError(
        "the model file holds more than tensors, and torch does not read it without running code of its own",
        where=str(path),
        allowed="torch.save(model.state_dict(), ...)",
        got=printable(reason.partition(" was not an allowed global")[0][:200]),
        hint="save model.state_dict() instead, or add --trust-pickle if you trust whoever made the file",
    )


def _damaged(path: Path, error: Exception) -> ModelError:
    first = str(error).strip().splitlines()
    return ModelError("the model file is damaged or truncated", where=str(path),
                      got=first[0] if first else type(error).__name__, hint="copy it again")  # fmt: skip


def _read_trusted(path: Path) -> Any:
    """What a file holds, with all that reading it runs.

    Raises:
        ModelError: the file is damaged, or a class in it cannot be imported.
    """
    try:
        with path.open("rb") as file:
            return pickle.load(file) if is_plain_pickle(path) else _quietly(file, weights_only=False)  # noqa: S301  # asked for
    except (ImportError, AttributeError) as error:
        raise _not_importable(path, error) from error
    except Exception as error:  # whatever the file's own code raises
        raise ModelError(
            f"the trusted model file raised {type(error).__name__} when it was read: {error}",
            where=str(path),
            hint="read it where it was made, and torch.save(model.state_dict(), ...)",
        ) from error


def _not_importable(path: Path, error: Exception) -> ModelError:
    modules = outline(path).modules()
    kind = modules[0][1] if modules else ""
    package = getattr(error, "name", None) if isinstance(error, ImportError) else kind.rpartition(".")[0]
    if package in ("__main__", "__mp_main__"):
        hint = "the class was defined in the script that was run: save model.state_dict() there, and pass --arch"
    else:
        hint = f"install the package of {package or 'the class'}, or run from the folder that holds it"
    return ModelError(
        f"the module {package or kind} that the pickled {kind or 'object'} needs cannot be imported"
        if package
        else "a class in the model file cannot be imported",
        where=str(path),
        got=str(error),
        hint=hint,
    )
