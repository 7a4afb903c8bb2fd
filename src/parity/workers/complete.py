"""The complete stage: what a request leaves open about a model is found in its file and its samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from parity.errors import ModelError, UsageError
from parity.models.architectures import NoMatch, fitted, is_architecture, known_inputs, recognise
from parity.models.architectures.transformers import CONFIG
from parity.models.binding import forward_of, suggested_inputs
from parity.models.build import build_unbound
from parity.models.draft import Draft
from parity.models.files.checkpoint import read_module, read_state
from parity.models.files.state import State
from parity.models.program_inputs import program_inputs
from parity.models.refs import put_on_path
from parity.models.signature import parse_signature
from parity.models.spec import PICKLE, PROGRAM, ModelSpec
from parity.models.wording import typed
from parity.samples.sources import infer_inputs


def complete(draft: Draft) -> ModelSpec:
    """Find the architecture and the inputs that a draft lacks.

    The architecture of bare weights is recognised by their names and shapes. The inputs are those of an exported
    program, else those of the samples, else those that an architecture is known by.

    Raises:
        ModelError: the file cannot be read, is no architecture that is known, or does not fit the one given.
        SampleError: the samples cannot be read.
        UsageError: nothing says what the inputs are; the message has a line to complete.
    """
    spec = draft.spec
    if spec.weights is not None and (not spec.factory or draft.fit):
        spec = _with_architecture(spec)
    if not spec.signature.inputs:
        spec = _with_inputs(spec)
    return spec


def _with_architecture(spec: ModelSpec) -> ModelSpec:
    path = spec.root / (spec.weights or "")
    put_on_path(spec.root)
    if not spec.factory and spec.trust_pickle and read_module(path) is not None:
        return _noted(replace(spec, factory=f"{PICKLE}:{path}", weights=None), "the module itself was in the pickle")
    state = read_state(path, trust_pickle=spec.trust_pickle)
    shapes = state.shapes
    if spec.factory:
        factory = fitted(spec.factory, shapes)
        return (
            replace(spec, factory=factory)
            if factory == spec.factory
            else _noted(replace(spec, factory=factory), f"{factory} is what fits the weights")
        )
    found = recognise(shapes)
    others = (recognise(each.shapes) for each in state.others if isinstance(found, NoMatch))
    found = next((each for each in others if not isinstance(each, NoMatch)), found)
    if isinstance(found, NoMatch):
        raise _unknown(path, state, found)
    return _noted(replace(spec, factory=found.reference), *found.notes)


def _unknown(path: Path, state: State, found: NoMatch) -> ModelError:
    if found.alternatives:
        return ModelError(
            "these weights fit more than one architecture", where=str(path), allowed="one that is named by --arch",
            got=str(found), hint=found.hint,
        )  # fmt: skip
    numbers = sum(map(math.prod, state.shapes.values()))
    name, shape = next(iter(state.shapes.items()))
    return ModelError(
        "a checkpoint holds weights and no architecture, and these weights are of none that is known",
        where=str(path),
        allowed="--arch package.module:factory, torchvision:NAME, timm:NAME or transformers:DIR, or a model in "
        "parity.toml that names this file as its weights",
        got=f"{len(state.tensors)} tensors with {numbers:,} numbers, the first {name} {list(shape)}; {found}",
        hint=f"parity report {as_typed(path.parent)}"
        if (path.parent / CONFIG).is_file()
        else f"parity report {as_typed(path)} --arch package.module:factory",
    )


def as_typed(path: Path) -> str:
    """A path as it can be typed where the command was: relative where that is shorter to say."""
    return typed(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _with_inputs(spec: ModelSpec) -> ModelSpec:
    if spec.factory.startswith(f"{PROGRAM}:"):
        path = spec.root / spec.factory.partition(":")[2]
        return _given(spec, program_inputs(path), "the exported program says")
    if spec.samples is not None:
        names = forward_of(build_unbound(spec).module).names
        return _given(spec, infer_inputs(spec.samples, spec.root, names, spec.preprocess), "the samples have")
    known = known_inputs(spec.factory, spec.root) if is_architecture(spec.factory) else None
    if known is not None:
        return _given(spec, known, f"{spec.factory} is known by")
    raise _untold(spec)


def _untold(spec: ModelSpec) -> UsageError:
    module = build_unbound(spec).module
    lines = " ".join(f'--input "{line}"' for line in suggested_inputs(module))
    return UsageError(
        "nothing says what the model's inputs are",
        where=spec.name,
        allowed="--input for each of them, in numbers and symbols such as N; or --samples, whose arrays tell",
        got=f"{type(module).__name__}.{forward_of(module)}",
        hint=f"complete this: {lines}",
    )


def _given(spec: ModelSpec, inputs: Sequence[str], source: str) -> ModelSpec:
    """The spec with inputs that the request did not write."""
    return _noted(replace(spec, signature=parse_signature(inputs)), f"inputs as {source}: {'; '.join(inputs)}")


def _noted(spec: ModelSpec, *notes: str) -> ModelSpec:
    return replace(spec, notes=(*spec.notes, *notes))
