"""A spec made into an `nn.Module` in eval mode, and the digests that say which model it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from parity.arrays import digest
from parity.errors import ModelError
from parity.models.architectures import carries_weights, is_architecture
from parity.models.binding import bound
from parity.models.factories import factory_source, make_module
from parity.models.files.checkpoint import load_weights
from parity.models.refs import source_file
from parity.models.spec import ModelSpec


@dataclass(frozen=True)
class Built:
    """A module ready to be judged, and what a reader should know about how it was made."""

    module: nn.Module
    notes: tuple[str, ...]


def build(spec: ModelSpec) -> Built:
    """Make the module, load the weights, enforce eval mode; it takes its inputs by position.

    Raises:
        ModelError: the factory raises or returns no `nn.Module`, or the weights do not fit.
        UsageError: the inputs do not fit `forward`.
    """
    built = build_unbound(spec)
    module, notes = bound(built.module, spec.signature.names, spec.name)
    return Built(module, (*built.notes, *notes))


def build_unbound(spec: ModelSpec) -> Built:
    """The same for a model whose inputs need not be known: it takes them as its `forward` does.

    Raises:
        ModelError: as `build` does.
    """
    made = make_module(spec.factory, spec.root, trust_pickle=spec.trust_pickle)
    module, notes = made.module, made.notes
    if spec.weights:
        path = spec.root / spec.weights
        loaded = load_weights(module, path, trust_pickle=spec.trust_pickle, allow_missing=spec.allow_missing)
        notes = (*notes, *loaded)
    elif is_architecture(spec.factory) and not carries_weights(spec.factory):
        notes = (*notes, "the weights are seeded, not trained: give a file of weights as MODEL")
    # What weights are loaded into is new, and as new modules are. A frozen TorchScript module has no mode any more.
    training = [
        name or type(module).__name__
        for name, each in module.named_modules()
        if not spec.weights and getattr(each, "training", False)
    ]
    return Built(module.eval(), (*spec.notes, *notes, *_training_note(training)))


def require_weights(module: nn.Module, sha256: str, spec: ModelSpec) -> None:
    """Every stage builds the model again, and has to get the same one.

    Raises:
        ModelError: the factory builds other weights than it did for the stage before.
    """
    if weights_digest(module) != sha256:
        raise ModelError(
            "the factory builds different weights each time it is called",
            where=spec.factory,
            allowed="the same module in every process",
            hint="call torch.manual_seed in the factory, or load a checkpoint",
        )


def _training_note(training: list[str]) -> tuple[str, ...]:
    if not training:
        return ()
    return (f"{len(training)} modules came in training mode ({training[0]}, …); eval mode is enforced",)


def weights_digest(module: nn.Module) -> str:
    """SHA-256 over every parameter and buffer: name, dtype, shape and bytes."""
    sha = hashlib.sha256()
    # A tensor that two layers share is named twice: without sharing the model would be another.
    named = (*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False))
    for name, tensor in sorted(named, key=lambda each: each[0]):
        sha.update(name.encode())
        sha.update(_bytes(tensor))
    return sha.hexdigest()


def _bytes(tensor: torch.Tensor) -> bytes:
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    values = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return f"{tensor.dtype}{tuple(tensor.shape)}".encode() + values


def code_digest(module: nn.Module, factory_file: Path | None) -> str:
    """SHA-256 over what a module is made of besides weights.

    The printed structure, every plain attribute of every submodule (numbers, texts, arrays, tensors,
    and containers of them), and the source files that define the classes and their bases, torch's own
    left out: its version stands for them.
    """
    sha = hashlib.sha256(repr(module).encode())
    own = vars(nn.Module()).keys()  # parameters, buffers, submodules, hooks
    files: set[Path] = {factory_file} if factory_file is not None else set()
    for name, each in module.named_modules():
        for key, value in sorted(vars(each).items()):
            if key not in own:
                for piece in _pieces(value):
                    sha.update(f"{name}.{key}=".encode() + piece)
        kinds = (kind for kind in type(each).__mro__ if not kind.__module__.startswith(("torch.", "builtins")))
        files.update(source for source in map(source_file, kinds) if source is not None)
    for path in sorted(files):
        sha.update(path.read_bytes() if path.is_file() else b"")
    return sha.hexdigest()


def _pieces(value: Any) -> Iterator[bytes]:
    """What a value is made of, as far as it is plain: the text of any other object may hold its address."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, torch.dtype, torch.Size)):
        yield repr(value).encode()
    elif isinstance(value, torch.Tensor):
        yield _bytes(value)
    elif isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
        yield digest(np.asarray(value)).encode()
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _pieces(key)
            yield from _pieces(each)
    elif isinstance(value, (list, tuple)):
        yield str(len(value)).encode()
        for each in value:
            yield from _pieces(each)


def factory_file(spec: ModelSpec) -> Path | None:
    """The file that the factory is defined in or stands for, where it has one."""
    return factory_source(spec.factory, spec.root)
