"""References to architectures that a package knows by name: `torchvision:resnet18(num_classes=10)`.

Arguments are literals, read and never evaluated. A Python reference (`package.module:factory`) is none of these:
which schemes there are decides.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from parity.errors import ModelError, UnknownName, UsageError, did_you_mean

_FORM = "SCHEME:NAME, or SCHEME:NAME(key=literal, ...) such as torchvision:resnet18(num_classes=10)"
_NAME = re.compile(r"[A-Za-z0-9_][\w.\-]*")

_DOWNLOADS = ("weights", "weights_backbone", "pretrained", "pretrained_backbone", "checkpoint_path")
"""Arguments that fetch or read weights. What is judged are the weights that were given, so none of them is taken."""


@dataclass(frozen=True)
class Reference:
    """One architecture: which package builds it, its name there, and its keyword arguments in order."""

    scheme: str
    name: str
    arguments: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return f"{self.scheme}:{self.text}"

    @property
    def text(self) -> str:
        """What follows the scheme."""
        written = ", ".join(f"{key}={value!r}" for key, value in self.arguments)
        return f"{self.name}{f'({written})' if written else ''}"

    @property
    def options(self) -> dict[str, Any]:
        """The arguments by name."""
        return dict(self.arguments)

    def with_arguments(self, **more: Any) -> Reference:
        """A copy with more arguments; those that it has stay."""
        return Reference(
            self.scheme,
            self.name,
            tuple((self.options | {key: more[key] for key in more if key not in self.options}).items()),
        )


def parse_reference(scheme: str, rest: str) -> Reference:
    """Read the written form of a reference to a named architecture: its scheme, and what follows the colon.

    Raises:
        UsageError: it cannot be read, an argument is no literal, or it asks for weights from elsewhere.
    """
    text = f"{scheme}:{rest}"
    name, bracket, written = rest.partition("(")
    if not _NAME.fullmatch(name.strip()):
        raise UsageError("this architecture cannot be read", allowed=_FORM, got=text)
    arguments = _literals(bracket + written, text) if bracket else ()
    for key, _value in arguments:
        if key in _DOWNLOADS:
            raise UsageError(
                f"{key} is not an argument of an architecture here: nothing is downloaded",
                where=text,
                hint="give the weights as MODEL, and the architecture without them as --arch",
            )
    return Reference(scheme, name.strip(), arguments)


def _literals(written: str, text: str) -> tuple[tuple[str, Any], ...]:
    try:
        call = ast.parse(f"_{written}", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise UsageError("an architecture takes keyword arguments only", allowed=_FORM, got=text)
        names = [each.arg or "**" for each in call.keywords]
        if "**" in names or len({*names}) < len(names):
            raise UsageError("an architecture takes each keyword argument once, by its name", allowed=_FORM, got=text)
        return tuple((name, ast.literal_eval(each.value)) for name, each in zip(names, call.keywords, strict=True))
    except (SyntaxError, TypeError, ValueError) as error:
        raise UsageError("the arguments of this architecture cannot be read", allowed=_FORM, got=text) from error


def require(package: str, where: str) -> ModuleType:
    """The imported package.

    Raises:
        ModelError: it is not installed, or cannot be imported.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name == package:
            raise ModelError(f"{package} is not installed", where=where, hint=f"pip install {package}") from error
        raise _broken(package, where, error) from error
    except Exception as error:
        raise _broken(package, where, error) from error


def _broken(package: str, where: str, error: Exception) -> ModelError:
    first = next(iter(str(error).strip().splitlines()), "")
    return ModelError(
        f"{package} cannot be imported: {type(error).__name__}: {first}",
        where=where,
        hint=f"install the {package} that was made for this torch: pip install --upgrade torch {package}",
    )


def unknown(reference: Reference, known: Iterable[str], listing: str) -> UnknownName:
    """The error for a name that a package does not know: the nearest ones, or how to list them all."""
    near = difflib.get_close_matches(reference.name, known, n=3, cutoff=0.6)
    return UnknownName(
        f"{reference.scheme} has no architecture {reference.name!r}",
        where=str(reference),
        hint=did_you_mean(reference.name, near) if near else listing,
    )


def cannot_build(reference: object, error: Exception) -> ModelError:
    """The error for a builder that raised."""
    first = next(iter(str(error).strip().splitlines()), "")
    return ModelError(
        f"{reference} cannot be built: {type(error).__name__}: {first}",
        where=str(reference),
        hint="check its arguments; a factory of your own can do anything else: --arch package.module:factory",
    )
