"""The reference stage: eager PyTorch, its float64 oracle, and the noise between the two."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from parity.arrays import Array, ArrayReader, ArrayWriter, dtype_name, dtype_of
from parity.compare.sets import set_groups
from parity.errors import ModelError
from parity.models.build import build, require_weights
from parity.models.reductions import watch_reductions
from parity.models.spec import ModelSpec
from parity.models.wording import listed
from parity.records import OutputFacts, ReferenceFacts
from parity.samples.calls import Call, held_out_calls, kept, own_noise_id
from parity.samples.excluded import Excluded
from parity.samples.refused import refused_notes
from parity.samples.store import StoredSamples
from parity.workers.calling import call_module, copied
from parity.workers.draws import EXACT_COPIES, FEW_NUMBERS, copies_for, draw_exact, draw_jittered, draw_reorderings
from parity.workers.entry import useful_line
from parity.workers.load import HELD_OUT
from parity.workers.observe import observe
from parity.workers.oracle import Oracle, make_oracle
from parity.workers.stability import difference, unstable_runs

REFERENCE = "reference"
ORACLE = "oracle"
REFUSED = "refused.json"

SIZED_COPIES = 4
"""Jittered copies of a call with few numbers at sizes of its own: its error alone may be small by luck."""


@dataclass(frozen=True)
class ReferenceTask:
    """What a child needs to make the reference."""

    spec: ModelSpec
    samples: Path
    calls: tuple[Call, ...]
    folder: Path
    threads: int
    weights_sha256: str
    excluded: tuple[Excluded, ...] = ()


def reference(task: ReferenceTask) -> ReferenceFacts:
    """Run every call eagerly and in float64, writing `reference` and `oracle` arrays to `task.folder`.

    Jittered copies are written under `<call>~<copy>` and the reorderings that stand in for an oracle
    under the same names.

    Raises:
        ModelError: the model does not run on its own samples, or returns no tensors. Where it does not run
            at other sizes that the signature allows, a note says so, and nothing is written for that call.
    """
    start = time.perf_counter()
    module, stored = prepared(task)
    untouched = copied(module)
    first = task.calls[0]
    with watch_reductions() as longest:
        _eager(module, stored.batch(first.samples), task, first)
        reduction = longest()
    unstable = unstable_runs(lambda: _eager(module, stored.batch(first.samples), task, first))
    produced = _eager(module, inputs := stored.batch(first.samples), task, first)
    notes = _written(inputs, stored.batch(first.samples))
    oracle, reason = make_oracle(module, stored.batch(first.samples), produced)
    try:
        drawn = _draw(task, module, stored, oracle)
    except _OracleRefusedError as refused:
        oracle, reason = None, str(refused)
        drawn = _draw(task, module, stored, None)
    if oracle is not None and oracle.overrides:
        notes = (*notes, "forward names float32 itself, which the float64 oracle overrides")
    # After everything that it must not disturb, and before the untouched copy is called.
    observed = observe(untouched, task.spec, stored.batch(first.samples))
    _ask_excluded(task, module, stored)
    return ReferenceFacts(
        oracle="float64" if oracle else "reordering",
        oracle_reason=reason,
        outputs=drawn.outputs,
        longest_reduction=reduction,
        jittered_copies=drawn.copies,
        seconds=time.perf_counter() - start,
        threads=task.threads,
        unstable=unstable or _order_dependent(untouched, stored, task),
        notes=(*notes, *_layout_dependent(oracle, stored, task), *observed.notes, *drawn.notes),
        hazards=observed.hazards,
    )


def prepared(task: ReferenceTask) -> tuple[nn.Module, StoredSamples]:
    """The model, the one that was loaded at first, and the held-out samples; sets the threads of this process."""
    torch.set_num_threads(task.threads)
    module = build(task.spec).module
    require_weights(module, task.weights_sha256, task.spec)
    return module, StoredSamples(task.samples / HELD_OUT, task.spec.signature)


def _ask_excluded(task: ReferenceTask, module: nn.Module, stored: StoredSamples) -> None:
    """Write down which calls that the signature excludes the model refuses; last, since it may die there."""
    refused: list[str] = []
    for each in task.excluded:
        try:
            call_module(module, stored.batch(each.call.samples))
        except Exception:  # noqa: BLE001  # whatever it raises, it refuses
            refused.append(each.call.id)
    (task.folder / REFUSED).write_text(json.dumps(refused))


@dataclass(frozen=True)
class _Drawn:
    outputs: tuple[OutputFacts, ...]
    copies: int
    notes: tuple[str, ...]


class _OracleRefusedError(Exception):
    """The oracle does not answer a call that the model answers."""


def _draw(task: ReferenceTask, module: nn.Module, stored: StoredSamples, oracle: Oracle | None) -> _Drawn:
    """Write every call and the copies that its floor needs; raises _OracleRefusedError."""
    outputs: dict[str, OutputFacts] = {}
    numbers = 0
    refused: dict[Call, str] = {}
    sized: list[Call] = []
    held_out = held_out_calls(task.calls)
    with ArrayWriter(task.folder, REFERENCE) as eager, ArrayWriter(task.folder, ORACLE) as exact:
        for call in task.calls:
            try:
                produced = _eager(module, stored.batch(call.samples), task, call)
            except ModelError as error:
                if call.sweep is None:
                    raise
                refused[call] = useful_line(error.__cause__ or error)
                continue
            eager.put_all(call.id, kept(produced, call))
            try:
                judged = oracle(stored.batch(call.samples)) if oracle else produced
            except Exception as error:
                where = f"in samples {list(call.samples)[:4]}"
                raise _OracleRefusedError(f"{where}: {type(error).__name__}: {str(error).strip()[:200]}") from error
            exact.put_all(call.id, kept(judged, call))
            _merge_facts(outputs, produced, call)
            fewest = min((array.size for array in produced.values() if array.size), default=0)
            numbers += 0 if call.sweep else fewest
            sized += [replace(call, id=own_noise_id(call))] if call.sizes and fewest < FEW_NUMBERS else []
        copies = copies_for(numbers)
        if oracle is None:
            copies = draw_reorderings(module, stored, held_out, eager, exact, copies=copies)
            draw_reorderings(module, stored, sized, eager, exact, copies=0)
        else:
            draw_jittered((module, oracle), stored, held_out if copies else (), eager, exact, copies=copies)
            draw_jittered((module, oracle), stored, sized, eager, exact, copies=SIZED_COPIES)
        names = {name for name, output in outputs.items() if dtype_of(output.dtype).kind in "iub"}
        # Noise decides which boxes there are as well, and a set is known by all of its outputs.
        names.update(name for group in set_groups(outputs.values()) for name in group.members)
        if names:
            answered = [call for call in task.calls if call not in refused]
            draw_exact(module, stored, answered, eager, names=names, taken=copies)
            copies += EXACT_COPIES
    notes = refused_notes(task.calls, refused, task.spec.signature)
    return _Drawn(tuple(outputs.values()), copies, notes)


def _eager(module: nn.Module, inputs: Mapping[str, Array], task: ReferenceTask, call: Call) -> dict[str, Array]:
    try:
        produced = {name: np.array(array) for name, array in call_module(module, inputs).items()}
    except Exception as error:
        shapes = ", ".join(f"{name} {array.dtype.name}{list(array.shape)}" for name, array in inputs.items())
        raise ModelError(
            f"the model does not run on its own samples: {useful_line(error)}",
            where=f"{task.spec.name}, samples {list(call.samples)[:4]}",
            got=shapes,
            hint=_way_on(module, inputs, error),
        ) from error
    if not produced:
        raise ModelError("the model returns no tensor", where=task.spec.name)
    if any(array.dtype.hasobject or array.dtype.kind in "US" for array in produced.values()):
        raise ModelError("the model returns something other than numbers", where=task.spec.name)
    return produced


def _way_on(module: nn.Module, inputs: Mapping[str, Array], error: Exception) -> str:
    """What most likely helps a model that does not run on its own samples."""
    own = {parameter.dtype for parameter in module.parameters() if parameter.is_floating_point()}
    wide = [name for name, array in inputs.items() if array.dtype == np.float64]
    if wide and own and torch.float64 not in own:
        dtype = str(own.pop()).removeprefix("torch.")
        return f"the weights are {dtype} and {listed(wide)} is float64: save the samples with .astype({dtype!r})"
    if "NVIDIA" in str(error) or "CUDA" in str(error):
        return "the model moves its inputs to a GPU: let forward use the device of its input, x.device"
    return "check the signature (--input) against the module's forward"


def _merge_facts(outputs: dict[str, OutputFacts], produced: Mapping[str, Array], call: Call) -> None:
    for name, array in produced.items():
        batched = bool(array.ndim) and array.shape[0] == len(call.samples)
        known = outputs.get(name)
        outputs[name] = OutputFacts(
            name=name,
            dtype=dtype_name(array),
            shape=known.shape if known else array.shape,
            batched=batched and (known is None or known.batched),
        )


def _written(inputs: Mapping[str, Array], before: Mapping[str, Array]) -> tuple[str, ...]:
    written = [name for name, array in inputs.items() if array.tobytes() != before[name].tobytes()]
    return tuple(f"forward writes to its input {name!r}" for name in written)


def _layout_dependent(oracle: Oracle | None, stored: StoredSamples, task: ReferenceTask) -> tuple[str, ...]:
    """A note where outputs depend on how the input lies in memory; the oracle tells, whose rounding is no excuse."""
    call = task.calls[0]
    if oracle is None:
        return ()
    inputs = {name: np.asfortranarray(array) for name, array in stored.batch(call.samples).items()}
    try:
        turned = oracle(inputs)
    except Exception:  # noqa: BLE001  # a view refuses what is not contiguous, which is no other answer
        return ()
    differs = difference(turned, ArrayReader(task.folder, ORACLE).get_all(call.id))
    if differs is None:
        return ()
    return (f"forward reads its input's memory: in another layout outputs {differs}; what is judged is contiguous",)


def _order_dependent(untouched: nn.Module | None, stored: StoredSamples, task: ReferenceTask) -> str | None:
    """Whether a module that has seen nothing yet answers another call than the first as the used one did."""
    if untouched is None:
        return None
    eager = ArrayReader(task.folder, REFERENCE)
    answered = [call for call in task.calls if not call.sizes and eager.get_all(call.id)]
    shape = stored.shapes[answered[0].samples[0]]
    others = [call for call in answered if stored.shapes[call.samples[0]] != shape]
    call = (others or answered)[-1]
    recorded = eager.get_all(call.id)
    try:
        fresh = kept(call_module(untouched, stored.batch(call.samples)), call)
    except Exception as error:  # noqa: BLE001  # whatever it raises, it did not when it had been called before
        return f"it fails where other calls did not come before: {type(error).__name__}: {str(error).strip()[:200]}"
    differs = difference(fresh, recorded)
    return f"a first call and a later one {differs}: state kept between calls" if differs else None
