"""What builds architectures by name: one scheme a package, in a registry like exporters and runtimes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from parity.registry import Registry

if TYPE_CHECKING:
    from torch import nn

SEED = 0
"""What weights are drawn with where an architecture has none: each stage builds the model again, in another process."""


@dataclass(frozen=True)
class Made:
    """A module that a scheme has built, and what a reader should know of how."""

    module: nn.Module
    notes: tuple[str, ...] = ()


class Scheme(Protocol):
    """One package's architectures. The text that follows the scheme's name and a colon is the scheme's own."""

    @property
    def name(self) -> str:
        """What stands before the colon."""
        ...

    @property
    def carries_weights(self) -> bool:
        """Whether what it names holds trained weights already."""
        ...

    def build(self, text: str, root: Path) -> Made:
        """The module, in eval mode, the same one in every process; the caller's random state is left as it is."""
        ...

    def import_code(self, text: str, root: Path) -> None:
        """Import what defines it, which may register operators, or the types that it returns."""
        ...

    def known_inputs(self, text: str, root: Path) -> tuple[str, ...] | None:
        """The written inputs, in the order in which `forward` takes them, or None where nothing tells."""
        ...

    def fitted(self, text: str, shapes: Mapping[str, tuple[int, ...]]) -> str:
        """The same architecture with the arguments that make it fit a state dict, as far as its keys tell."""
        ...


def seeded(make: Callable[[], nn.Module]) -> nn.Module:
    """What `make` builds, in eval mode, with weights that every process draws alike; the random state comes back."""
    import torch  # noqa: PLC0415  # the schemes are listed without it

    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a builder says of its arguments is nothing that its user chose
        torch.manual_seed(SEED)
        return make().eval()


_HERE = "parity.models.architectures"

SCHEMES: Registry[Scheme] = Registry(
    kind="architecture scheme",
    builtin={
        "torchvision": f"{_HERE}.torchvision:Torchvision",
        "timm": f"{_HERE}.timm:Timm",
        "transformers": f"{_HERE}.transformers:Transformers",
    },
)
