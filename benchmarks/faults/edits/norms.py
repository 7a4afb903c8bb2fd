"""Normalisations with another epsilon or another statistic."""

from __future__ import annotations

import numpy as np

from benchmarks.faults.edits.kinds import Edit, Kind, of_kind, one_and_all
from benchmarks.faults.graph import Graph, attribute, set_attribute

_NORMS = of_kind("BatchNormalization", "LayerNormalization", "InstanceNormalization", "GroupNormalization")
_ONNX_EPSILON = 1e-5
_RUNNING = {"mean": 3, "variance": 4}


def _times(factor: float) -> Edit:
    def edit(graph: Graph, site: str, _: np.random.Generator) -> None:
        node = graph.node(site)
        set_attribute(node, "epsilon", attribute(node, "epsilon", _ONNX_EPSILON) * factor)

    return edit


def _statistic(which: str) -> Edit:
    """One channel's running statistic off by 1 %."""

    def edit(graph: Graph, site: str, rng: np.random.Generator) -> None:
        constant = graph.constant(graph.node(site).input[_RUNNING[which]])
        if constant is None:
            raise ValueError(f"the {which} of {site} is no constant")
        values = graph.values(constant)
        values[rng.integers(values.size)] *= 1.01
        graph.set_values(constant, values)

    return edit


KINDS: tuple[Kind, ...] = (
    *one_and_all("epsilon-times-100", "normalisation epsilon", _NORMS, _times(100)),
    *one_and_all("epsilon-times-10", "normalisation epsilon", _NORMS, _times(10)),
    *one_and_all("epsilon-divided-by-10", "normalisation epsilon", _NORMS, _times(0.1)),
    Kind("running-mean-1-percent", "one weight off by 1 %", of_kind("BatchNormalization"), _statistic("mean")),
    Kind("running-variance-1-percent", "one weight off by 1 %", of_kind("BatchNormalization"), _statistic("variance")),
)
