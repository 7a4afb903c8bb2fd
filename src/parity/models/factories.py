"""What a factory reference stands for: Python that is called, an architecture by name, or a file that is a program."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

from torch import nn

from parity.errors import ModelError, ParityError
from parity.models.architectures import import_architecture, is_architecture, make_architecture
from parity.models.architectures.schemes import Made
from parity.models.files.checkpoint import read_module
from parity.models.programs import load_program, load_torchscript
from parity.models.refs import put_on_path, resolve, source_file
from parity.models.spec import PICKLE, PROGRAM, TORCHSCRIPT

_FILES: dict[str, Callable[[Path], nn.Module]] = {TORCHSCRIPT: load_torchscript, PROGRAM: load_program}
"""How a file that is a program of its own is made a module; it needs no architecture and no weights."""


def make_module(factory: str, root: Path, *, trust_pickle: bool = False) -> Made:
    """The module that a factory reference stands for, before any weights are loaded into it, and how it was made.

    Args:
        factory: `package.module:name`, `path/file.py:name`, an architecture such as `torchvision:resnet18`, or
            `torchscript:FILE`, `program:FILE`, `pickle:FILE`.
        root: The project's folder.
        trust_pickle: Whether reading a file may run code that it holds.

    Raises:
        ModelError: it cannot be found, raises, or makes no `nn.Module`.
    """
    scheme, _, rest = factory.partition(":")
    if scheme in _FILES:
        return Made(_FILES[scheme](root / rest))
    if scheme == PICKLE:
        put_on_path(root)
        return Made(_pickled(root / rest, trust_pickle=trust_pickle))
    if is_architecture(factory):
        return make_architecture(factory, root)
    return Made(_called(factory, root))


def factory_source(factory: str, root: Path) -> Path | None:
    """The file that a factory is defined in or stands for, or None where it has none."""
    scheme, _, rest = factory.partition(":")
    if scheme in _FILES or scheme == PICKLE:
        return root / rest
    if is_architecture(factory):
        return None
    return source_file(resolve(factory, root, "factory"))


def import_code(factory: str, root: Path) -> None:
    """Import what a factory is defined in: it may register operators, and the classes that a model returns."""
    if is_architecture(factory):
        import_architecture(factory, root)
    else:
        factory_source(factory, root)


def _pickled(path: Path, *, trust_pickle: bool) -> nn.Module:
    module = read_module(path) if trust_pickle else None
    if module is None:
        raise ModelError("this file holds no module that may be read", where=str(path), hint="--trust-pickle")
    return module


def _called(reference: str, root: Path) -> nn.Module:
    factory = resolve(reference, root, "factory")
    try:
        module = factory()
    except ParityError:
        raise
    except Exception as error:
        raise ModelError(
            f"the factory raised {type(error).__name__}: {error}", where=reference, hint=_hint(factory)
        ) from error
    if not isinstance(module, nn.Module):
        got = type(module).__name__
        raise ModelError("the factory returned no module", where=reference, allowed="torch.nn.Module", got=got)
    return module


def _hint(factory: Callable[..., object]) -> str | None:
    """What to do about a factory that needs arguments; the errors of any other speak for themselves."""
    try:
        inspect.signature(factory).bind()
    except TypeError:
        return "it is called without arguments; give parity a function that needs none"
    except ValueError:  # it has no signature
        pass
    return None
