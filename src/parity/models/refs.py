"""References to Python objects that another process can follow.

Written `package.module:attribute` or `path/to/file.py:attribute`. A child process builds the model
again from its reference, which is why closures and lambdas are refused when they are registered.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from parity.errors import ModelError, ParityError, UsageError, did_you_mean


def reference_to(function: Callable[..., Any]) -> str:
    """`file.py:qualname` of a module-level function or class.

    Raises:
        UsageError: it is a lambda, a closure or a method of an object, which no child could rebuild.
    """
    name = getattr(function, "__qualname__", "")
    if not name.isidentifier():
        raise UsageError(
            f"{name or function!r} cannot be registered: a child process has to build it again by name",
            allowed="a function or class at the top level of a file",
            got=name or repr(function),
        )
    source = source_file(function)
    if source is None:
        raise UsageError(f"{name} has no source file, so a child process could not build it again")
    return f"{source.resolve()}:{name}"


def source_file(made: Any) -> Path | None:
    """The file that a function or class is written in, or None where it has none."""
    try:
        found = inspect.getsourcefile(made)
    except TypeError:
        return None
    return Path(found) if found else None


def is_reference(text: str) -> bool:
    """Whether a text is written as a reference (a drive letter is not one)."""
    module, _, attribute = text.rpartition(":")
    return bool(module) and all(part.isidentifier() for part in attribute.split(".")) and len(module) > 1


def put_on_path(root: Path) -> None:
    """Let what lies in the project's folder be imported, by name or by a pickle that names it."""
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))


def resolve(reference: str, root: Path, role: str = "object") -> Any:
    """Import what a reference names.

    Args:
        reference: `package.module:attribute` or `path/file.py:attribute`.
        root: The project's folder: put on `sys.path`, and what relative paths start from.
        role: What it is called in messages, such as `factory`.

    Raises:
        UsageError: the text is no reference.
        ModelError: the module cannot be imported, or has no such attribute.
    """
    if not is_reference(reference):
        raise UsageError(
            f"this {role} cannot be read", allowed="package.module:name or path/file.py:name", got=reference,
            hint=_as_reference(reference) if role == "factory" else None,
        )  # fmt: skip
    where, _, attribute = reference.rpartition(":")
    put_on_path(root)
    found: Any = load_file((root / where).resolve(), root) if where.endswith(".py") else _import(where, role)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ModelError(
                f"{where} has no {part!r}", where=f"{role} {reference}", hint=did_you_mean(part, _public(found))
            )
        found = getattr(found, part)
    return found


def _as_reference(text: str) -> str:
    """What somebody may have meant who wrote something else in place of a reference to a factory."""
    if "(" in text:
        return "write a function without arguments that makes the module, and name that"
    module, dot, name = text.rpartition(".")
    if name == "py":
        return f"name the function or class in it: {text}:NAME"
    return f"did you mean {f'{module}:{name}'!r}?" if dot else f"by its name: torchvision:{text} or timm:{text}"


def _public(module: object) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]


def _import(module: str, role: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ParityError:
        raise
    except Exception as error:
        raise ModelError(
            f"{module} cannot be imported: {type(error).__name__}: {error}",
            where=f"{role} {module}",
            hint="run from the folder that holds the package, or install it",
        ) from error


def _import_from_package(path: Path) -> ModuleType:
    """A file of a package, imported under the package's own name wherever the project's settings lie.

    A package that begins above that folder, or in a `src` folder below it, has the name that everything else
    imports it by; under another one its classes would exist twice and its relative imports would fail.
    """
    base = path.parent
    while (base / "__init__.py").is_file() and base.name.isidentifier():
        base = base.parent
    put_on_path(base)
    return _import(".".join(path.relative_to(base).with_suffix("").parts), str(path))


def load_file(path: Path, root: Path) -> ModuleType:
    """Import a file by its path, with the project's folder on `sys.path`.

    Raises:
        ModelError: there is no such file, or it raises while it is imported.
    """
    put_on_path(root)
    if (path.parent / "__init__.py").is_file():
        return _import_from_package(path)
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(path) and getattr(module, "__name__", "") != "__main__":
            return module
    if not path.is_file():
        near = [each.name for each in path.parent.glob("*.py")] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, near) if near else "check the path"
        raise ModelError("there is no such file", where=str(path), hint=hint)
    name = f"_parity_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ModelError("this file cannot be imported as Python", where=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ParityError:
        del sys.modules[name]
        raise
    except Exception as error:
        del sys.modules[name]
        raise ModelError(f"{type(error).__name__} while importing it: {error}", where=str(path)) from error
    return module
