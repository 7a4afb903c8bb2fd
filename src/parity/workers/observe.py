"""One eager pass under observation: what in `forward` exports are known to get wrong."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import nn

from parity.arrays import Array
from parity.models.hazards.log import HazardLog
from parity.models.hazards.operators import OperatorWatch
from parity.models.hazards.places import Places
from parity.models.hazards.reads import ReadWatch
from parity.models.hazards.sizes import Seen, SizeWatch, watched_ranges
from parity.models.hazards.state import watched_state
from parity.models.hazards.structure import note_structure
from parity.models.signature import Dim, Signature
from parity.models.spec import ModelSpec
from parity.records import Hazard

MOST_BATCH = 16
"""Batch sizes up to this are tried for two that the signature allows; small ones cost least."""


@dataclass(frozen=True)
class Observed:
    """Hazards, and why some could not be looked for."""

    hazards: tuple[Hazard, ...] = ()
    notes: tuple[str, ...] = ()


def observe(module: nn.Module | None, spec: ModelSpec, inputs: Mapping[str, Array]) -> Observed:
    """What two calls of a copy of the module show.

    The second call differs from the first in the size of every symbolic dimension that may have another: what
    differs then is known to be symbolic. Never raises: a model that does not run like this is judged all the
    same, and nothing that is noted here decides anything.

    Args:
        module: In eval mode; it is not called, copies of it are. None where it cannot be copied.
        spec: Its signature, and the project's folder, which paths are shown relative to.
        inputs: One held-out call by input name, with the batch axis where there is one.
    """
    if module is None:
        return Observed(notes=("hazards could not be observed: the module cannot be copied",))
    if isinstance(module, torch.jit.ScriptModule):
        return Observed()
    reason = ""
    try:
        first, others = _sizes(spec.signature, inputs)
        seen = _watched(module, first, spec.root, {})[1]
    except Exception as error:  # noqa: BLE001  # a model may raise anything; observing it fails nothing
        reason, others = _reason(error), []
    for other in others:
        try:
            return Observed(_watched(module, other, spec.root, seen)[0])
        except Exception as error:  # noqa: BLE001  # the same
            reason = reason or _reason(error)
    try:
        note = f"hazards that depend on sizes could not be observed: {reason}"
        return Observed(_watched(module, inputs, spec.root, {})[0], (note,))
    except Exception:  # noqa: BLE001  # the same
        return Observed(notes=(f"hazards could not be observed: {reason}",))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), '')[:200]}"


def _watched(
    module: nn.Module, inputs: Mapping[str, Array], root: Path, before: Seen
) -> tuple[tuple[Hazard, ...], Seen]:
    watched = copy.deepcopy(module)
    log = HazardLog(Places(root, watched))
    tensors = {name: torch.from_numpy(array.copy()) for name, array in inputs.items()}
    note_structure(log, watched)
    operators = OperatorWatch(log, watched, tensors)
    sizes = SizeWatch(log, before)
    with contextlib.ExitStack() as stack:
        for each in (
            watched_state(log, watched),
            watched_ranges(watched, root),
            torch.no_grad(),
            operators,
            ReadWatch(log, operators),
            sizes,
        ):
            stack.enter_context(each)
        watched(*tensors.values())
    return log.hazards(), sizes.seen


def _sizes(signature: Signature, inputs: Mapping[str, Array]) -> tuple[dict[str, Array], list[dict[str, Array]]]:
    """The call at a small batch, and other sizes of every symbolic dimension, each to be tried where those before fail.

    A neighbouring size first; then the double, since a signature may leave out that only multiples are taken.
    """
    one: dict[str, int] = {}
    others: tuple[dict[str, int], ...] = ({}, {})
    for name, dim in signature.symbols.items():
        if name == signature.batch:
            # Neither 0 nor 1, which broadcast; where only those are allowed, the size that there is.
            allowed = [*islice((size for size in range(2, MOST_BATCH) if dim.admits(size)), 2)] or [1]
            one[name] = allowed[-1]
            neighbour = double = allowed[0]
        else:
            size = one[name] = _size(name, signature, inputs)
            # Larger first: values that count up to the size stay right.
            neighbour = _admitted(dim, size + dim.step, size - dim.step) or size
            double = _admitted(dim, 2 * size, size // 2) or size
        others[0][name], others[1][name] = neighbour, double
    second = [_resized(signature, inputs, each) for each in others]
    return _resized(signature, inputs, one), second if others[0] != others[1] else second[:1]


def _admitted(dim: Dim, *sizes: int) -> int | None:
    return next((size for size in sizes if dim.admits(size)), None)


def _size(symbol: str, signature: Signature, inputs: Mapping[str, Array]) -> int:
    return next(size for dim, size in _dims(signature, inputs) if dim.symbol == symbol)


def _dims(signature: Signature, inputs: Mapping[str, Array]) -> Iterator[tuple[Dim, int]]:
    for spec in signature.inputs:
        yield from zip(spec.dims, inputs[spec.name].shape, strict=True)


def _resized(signature: Signature, inputs: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
    """The inputs with every symbolic dimension cut or repeated to a size."""
    made: dict[str, Array] = {}
    for spec in signature.inputs:
        array = inputs[spec.name]
        for axis, dim in enumerate(spec.dims):
            if dim.symbol is not None:
                array = np.take(array, np.arange(sizes[dim.symbol]) % array.shape[axis], axis)
        made[spec.name] = np.ascontiguousarray(array)
    return made
