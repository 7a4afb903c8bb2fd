"""Architectures that a package knows by name, and the one that a bare state dict belongs to.

A reference is `torchvision:resnet18(num_classes=10)`, `timm:NAME(...)` or `transformers:DIR`. Importing this loads
neither torch nor any of these packages.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from parity.models.architectures.recognition import Match, NoMatch, recognise
from parity.models.architectures.schemes import SCHEMES, Made

if TYPE_CHECKING:
    from torch import nn

__all__ = [
    "SCHEMES",
    "Made",
    "Match",
    "NoMatch",
    "build_architecture",
    "carries_weights",
    "fitted",
    "import_architecture",
    "is_architecture",
    "known_inputs",
    "make_architecture",
    "recognise",
]


def is_architecture(reference: str) -> bool:
    """Whether a text names an architecture rather than a Python object, a file or a registered model."""
    scheme, colon, text = reference.partition(":")
    return bool(colon and text) and scheme in SCHEMES


def build_architecture(reference: str, root: Path) -> nn.Module:
    """The module in eval mode; nothing is downloaded.

    Weights that it has none of its own of are drawn from a fixed seed: the same ones in every process. The caller's
    random state stays as it is.

    Raises:
        UsageError: the reference cannot be read, or its name is unknown; the message has the nearest names.
        ModelError: the package is not installed, the files are not there, or the builder raises.
    """
    return make_architecture(reference, root).module


def make_architecture(reference: str, root: Path) -> Made:
    """The same, with what a reader of the report should know of how it was made."""
    scheme, text = _split(reference)
    return SCHEMES.get(scheme).build(text, root)


def import_architecture(reference: str, root: Path) -> None:
    """Import what defines an architecture, so that a file that was exported from it can be read.

    Raises:
        UsageError: as `build_architecture`.
        ModelError: the same.
    """
    scheme, text = _split(reference)
    SCHEMES.get(scheme).import_code(text, root)


def carries_weights(reference: str) -> bool:
    """Whether what is named holds trained weights already; no checkpoint is needed then."""
    return SCHEMES.get(_split(reference)[0]).carries_weights


def known_inputs(reference: str, root: Path) -> tuple[str, ...] | None:
    """The written inputs of an architecture (`image: float32[N, 3, 224, 224]`), or None where nothing tells.

    Raises:
        UsageError: as `build_architecture`.
        ModelError: the same, or it takes no tensors; the message shows a module to put around it.
    """
    scheme, text = _split(reference)
    return SCHEMES.get(scheme).known_inputs(text, root)


def fitted(reference: str, shapes: Mapping[str, tuple[int, ...]]) -> str:
    """The same architecture with the arguments that make it fit a state dict, such as `num_classes`.

    Args:
        reference: A reference to an architecture; any other one is returned as it is.
        shapes: Key to shape, as the file has them; prefixes are removed here.
    """
    if not is_architecture(reference):
        return reference
    scheme, text = _split(reference)
    return f"{scheme}:{SCHEMES.get(scheme).fitted(text, shapes)}"


def _split(reference: str) -> tuple[str, str]:
    scheme, _, text = reference.partition(":")
    return scheme, text
