"""What a kind of fault is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.faults.graph import Graph

Sites = Callable[[Graph], Sequence[str]]
"""Where in a graph a fault can be planted: names of nodes or of constants."""

Edit = Callable[[Graph, str, np.random.Generator], None]
"""Plants the fault at one site."""


@dataclass(frozen=True)
class Kind:
    """One kind of fault.

    Attributes:
        name: Unique among all kinds.
        family: What it is counted under.
        sites: Where it can be planted.
        edit: Plants it at one site.
        faults: How many faults of it a graph gets, each at a site of its own.
        everywhere: Whether a fault is planted at all sites at once instead.
    """

    name: str
    family: str
    sites: Sites
    edit: Edit
    faults: int = 1
    everywhere: bool = False


def one_and_all(name: str, family: str, sites: Sites, edit: Edit) -> tuple[Kind, Kind]:
    """The fault at one site, and the same at every site at once."""
    everywhere = Kind(f"{name}-everywhere", family, sites, edit, everywhere=True)
    return Kind(name, family, sites, edit), everywhere


def of_kind(*operators: str) -> Sites:
    """The nodes of some operators."""
    return lambda graph: [node.name for node in graph.nodes(*operators)]
