"""Which faults a graph gets: drawn from their names, so that each is the same in every run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

import numpy as np

from benchmarks.faults.edits import KINDS
from benchmarks.faults.edits.kinds import Kind
from benchmarks.faults.graph import Graph


@dataclass(frozen=True)
class Fault:
    """One kind of fault at some sites of one network's graph."""

    name: str
    kind: Kind
    sites: tuple[str, ...]


PER_NETWORK = 24
"""Faults of one network: a third to a half of what its graph has places for."""


def chosen(faults: Sequence[Fault], number: int = PER_NETWORK) -> list[Fault]:
    """Some of a network's faults: one of each family in turn, each family in an order drawn from the names."""
    families: dict[str, list[Fault]] = {}
    for fault in sorted(faults, key=lambda each: int(seeded(each.name).integers(1 << 62))):
        families.setdefault(fault.kind.family, []).append(fault)
    in_turn = (fault for turn in zip_longest(*families.values()) for fault in turn if fault is not None)
    return list(islice(in_turn, number))


def plan(network: str, graph: Graph, kinds: Sequence[Kind] = KINDS) -> list[Fault]:
    """The faults of one network: every kind that its graph has a place for."""
    faults: list[Fault] = []
    for kind in kinds:
        sites = list(kind.sites(graph))
        name = f"{network}/{kind.name}"
        if kind.everywhere:
            # With one site alone it is the fault at one site over again.
            faults += [Fault(name, kind, tuple(sites))] if len(sites) > 1 else []
            continue
        count = min(kind.faults, len(sites))
        places = seeded(name).permutation(len(sites))[:count]
        faults += [Fault(f"{name}/{sites[place]}", kind, (sites[place],)) for place in places]
    return faults


def plant(fault: Fault, graph: Graph) -> None:
    """Edit the graph in place."""
    rng = seeded(fault.name)
    for site in fault.sites:
        fault.kind.edit(graph, site, rng)


def seeded(name: str) -> np.random.Generator:
    """A generator whose seed is made from a name."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))
