"""A spec made into an `nn.Module` in eval mode, and the digests that say which model it is."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from parity.errors import ModelError, ParityError
from parity.models.checkpoint import load_weights
from parity.models.refs import resolve
from parity.models.spec import ModelSpec


@dataclass(frozen=True)
class Built:
    """A module ready to be judged, and what a reader should know about how it was made."""

    module: nn.Module
    notes: tuple[str, ...]


def build(spec: ModelSpec) -> Built:
    """Call the factory, load the weights, enforce eval mode.

    Raises:
        ModelError: the factory raises or returns no `nn.Module`, or the weights do not fit.
    """
    factory = resolve(spec.factory, spec.root, "factory")
    try:
        module = factory()
    except ParityError:
        raise
    except Exception as error:
        raise ModelError(
            f"the factory raised {type(error).__name__}: {error}",
            where=spec.factory,
            hint="it is called without arguments; give parity a function that needs none",
        ) from error
    if not isinstance(module, nn.Module):
        got = type(module).__name__
        raise ModelError("the factory returned no module", where=spec.factory, allowed="torch.nn.Module", got=got)
    notes: tuple[str, ...] = ()
    if spec.weights:
        notes = load_weights(module, spec.root / spec.weights, trust_pickle=spec.trust_pickle)
    training = [name or type(module).__name__ for name, each in module.named_modules() if each.training]
    return Built(module.eval(), (*notes, *_training_note(training)))


def _training_note(training: list[str]) -> tuple[str, ...]:
    if not training:
        return ()
    return (f"{len(training)} modules came in training mode ({training[0]}, …); eval mode is enforced",)


def weights_digest(module: nn.Module) -> str:
    """SHA-256 over every parameter and buffer: name, dtype, shape and bytes."""
    sha = hashlib.sha256()
    for name, tensor in sorted({**dict(module.named_parameters()), **dict(module.named_buffers())}.items()):
        sha.update(f"{name}{tensor.dtype}{tuple(tensor.shape)}".encode())
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        sha.update(flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b"")
    return sha.hexdigest()


def code_digest(module: nn.Module, factory_file: Path | None) -> str:
    """SHA-256 over what a module is made of besides weights.

    The printed structure, every plain attribute of every submodule, tensors kept outside parameters
    and buffers, and the source files that define the classes, torch's own left out: its version stands
    for them.
    """
    sha = hashlib.sha256(repr(module).encode())
    files: set[Path] = {factory_file} if factory_file is not None else set()
    for name, each in module.named_modules():
        for key, value in sorted(vars(each).items()):
            if isinstance(value, (bool, int, float, str, tuple)):
                sha.update(f"{name}.{key}={value!r}".encode())
            elif isinstance(value, torch.Tensor):
                sha.update(value.detach().cpu().double().numpy().tobytes() if not value.is_complex() else b"")
        source = None if type(each).__module__.startswith("torch.") else _source_file(type(each))
        if source is not None:
            files.add(source)
    for path in sorted(files):
        sha.update(path.read_bytes() if path.is_file() else b"")
    return sha.hexdigest()


def _source_file(kind: type) -> Path | None:
    try:
        found = inspect.getsourcefile(kind)
    except TypeError:
        return None
    return Path(found) if found else None


def factory_file(spec: ModelSpec) -> Path | None:
    """The file that the factory is defined in, where it has one."""
    factory = resolve(spec.factory, spec.root, "factory")
    try:
        found = inspect.getsourcefile(factory)
    except TypeError:
        return None
    return Path(found) if found else None
