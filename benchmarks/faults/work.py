"""One network: its healthy exports at every runtime, then one fault after the other in its ONNX graph."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from safetensors.torch import save_file

from benchmarks.faults import images
from benchmarks.faults.architectures import ARCHITECTURES, Architecture
from benchmarks.faults.graph import Graph
from benchmarks.faults.judging import INPUT, Bench, Outputs, model_spec
from benchmarks.faults.plan import Fault, chosen, plan, plant
from benchmarks.faults.results import HealthyCell, NetworkResult, PlantedFault
from benchmarks.faults.rules import refusals
from benchmarks.faults.weights import live_weights
from parity.exporters.onnx_torchscript import OPSET
from parity.models.build import build
from parity.runtimes import SessionOptions
from parity.runtimes.onnxruntime import OnnxSession

ROOT = Path(__file__).resolve().parents[2]
SEED = 0
LEVELS = {
    "off": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
MODULES = {"trace": "torchscript", "export": "torch"}
UNFUSED = "onnx-unfused"
"""The TorchScript exporter told to keep normalisations out of the convolutions; faults are planted in this."""


def run_network(name: str) -> NetworkResult:
    """Everything about one network, in this process, with one thread."""
    start = time.perf_counter()
    architecture = next(each for each in ARCHITECTURES if each.name == name)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="parity-faults-") as made, _quiet():
        folder = Path(made)
        bench = _bench(architecture, folder)
        runner = Runner(bench)
        graphs, missing = _graphs(bench, folder, exported=architecture.exported)
        cells = [*_module_cells(bench, missing), *runner.healthy(graphs)]
        faults = tuple(runner.faulty(name, Graph(graphs[UNFUSED])))
    return NetworkResult(
        network=name, base=architecture.base, cells=_marked(cells, bench.eager()), faults=faults,
        missing=missing, seconds=time.perf_counter() - start,
    )  # fmt: skip


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Exporters print pages; what counts comes back as values."""
    logging.disable(logging.WARNING)
    kept = {stream: os.dup(stream) for stream in (1, 2)}  # torch's C++ code writes there directly
    with warnings.catch_warnings(), Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        warnings.simplefilter("ignore")
        for stream in kept:
            os.dup2(nowhere.fileno(), stream)
        try:
            yield
        finally:
            sys.stdout.flush()
            for stream, own in kept.items():
                os.dup2(own, stream)
                os.close(own)


def _bench(architecture: Architecture, folder: Path) -> Bench:
    weights, samples = folder / "weights.safetensors", folder / "samples.npz"
    save_file(live_weights(architecture.factory, images.calibration(architecture.size), SEED), weights)
    np.savez(samples, image=images.held_out(architecture.size))
    spec = model_spec(
        architecture.name, architecture.factory, weights, samples=samples, size=architecture.size, root=ROOT
    )
    return Bench(spec, folder)


def _graphs(bench: Bench, folder: Path, *, exported: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """ONNX models by what exported them, and the exporters that raised."""
    graphs: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for exporter in (*(("onnx",) if exported else ()), "onnx-torchscript"):
        try:
            graphs[exporter] = onnx.load(bench.export(exporter).entry)
        except Exception as error:  # noqa: BLE001  # an exporter may raise anything; the table says what is missing
            missing[f"{exporter}@onnxruntime"] = short(error)
    graphs[UNFUSED] = unfused(bench, folder / "unfused.onnx")
    return graphs, missing


def unfused(bench: Bench, path: Path) -> Any:
    """The ONNX model in which every layer of the network has its own node; `path` is where it is written."""
    names = list(bench.output_names)
    # The fused attention of eval mode is an operator that this exporter does not know.
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(value=False)
    with torch.no_grad():
        torch.onnx.export(
            build(bench.spec).module, (torch.from_numpy(bench.example()),), str(path), dynamo=False,
            training=torch.onnx.TrainingMode.PRESERVE, opset_version=OPSET, input_names=[INPUT], output_names=names,
            dynamic_axes={name: {0: "N"} for name in (INPUT, *names)},
        )  # fmt: skip
    torch.backends.mha.set_fastpath_enabled(value=fast)
    return onnx.load(path)


def _module_cells(bench: Bench, missing: dict[str, str]) -> Iterator[tuple[HealthyCell, str]]:
    for exporter, runtime in MODULES.items():
        target = f"{exporter}@{runtime}"
        try:
            outputs = bench.run(bench.export(exporter), runtime)
        except Exception as error:  # noqa: BLE001  # the same
            missing[target] = short(error)
            continue
        yield _cell(bench, target, outputs), _digest(outputs)


def _cell(bench: Bench, target: str, outputs: Outputs) -> HealthyCell:
    return HealthyCell(target, bench.judge(target, outputs), refusals(outputs, bench.eager()))


class Runner:
    """Runs ONNX models in memory on the inputs of a bench."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._inputs = bench.inputs()
        self._eager = bench.eager()

    def run(self, model: Any, level: str = "all") -> Outputs:
        """What a model returns for every call, with one of the levels of graph optimisation; raises as it does."""
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        settings.log_severity_level = 4
        settings.graph_optimization_level = LEVELS[level]
        session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
        opened = OnnxSession(session, SessionOptions(1, (INPUT,)), self._bench.output_names, "CPUExecutionProvider")
        return {call: opened.run(inputs) for call, inputs in self._inputs.items()}

    def healthy(self, graphs: Mapping[str, Any]) -> Iterator[tuple[HealthyCell, str]]:
        """Every graph at every level, with the digest of its outputs."""
        for exporter, model in graphs.items():
            for level in LEVELS:
                outputs = self.run(model, level)
                yield _cell(self._bench, f"{exporter}@onnxruntime-{level}", outputs), _digest(outputs)

    def faulty(self, network: str, graph: Graph) -> Iterator[PlantedFault]:
        """The faults that the network's graph gets, planted one at a time."""
        right = self.run(graph.model)
        for fault in chosen(plan(network, graph)):
            yield self._planted(fault, Graph(graph.model), right)

    def _planted(self, fault: Fault, graph: Graph, right: Outputs) -> PlantedFault:
        about = PlantedFault(fault.name, fault.kind.name, fault.kind.family, len(fault.sites))
        plant(fault, graph)
        try:
            outputs = self.run(graph.model)
        except Exception as error:  # noqa: BLE001  # a graph that does not run is no silent fault
            return PlantedFault(**{**vars(about), "problem": short(error)})
        held_out = [call.id for call in self._bench.calls if call.sweep is None]
        return PlantedFault(**{
            **vars(about),
            "effect": effect(outputs, right, held_out),
            "judged": self._bench.judge(fault.name, outputs),
            "refused": refusals(outputs, self._eager),
        })  # fmt: skip


def effect(faulty: Outputs, right: Outputs, calls: list[str]) -> float | None:
    """How far outputs moved: √(Σ (faulty - right)² / Σ right²) over some calls, the largest of all outputs.

    None where they are no longer finite, or of another shape.
    """
    moved = 0.0
    for name in right[calls[0]]:
        pairs = [(faulty[call][name].astype(np.float64), right[call][name].astype(np.float64)) for call in calls]
        if any(one.shape != other.shape or not np.isfinite(one).all() for one, other in pairs):
            return None
        noise = sum(float(np.square(one - other).sum()) for one, other in pairs)
        signal = sum(float(np.square(other).sum()) for _, other in pairs)
        moved = max(moved, (noise / signal) ** 0.5 if signal else 0.0)
    return moved


def short(error: BaseException) -> str:
    """One line of an exception: exporters append whole graphs."""
    return f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), '')}"[:200]


def _digest(outputs: Outputs) -> str:
    sha = hashlib.sha256()
    for arrays in outputs.values():
        for array in arrays.values():
            sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()


def _marked(cells: list[tuple[HealthyCell, str]], eager: Outputs) -> tuple[HealthyCell, ...]:
    """The cells, those with the outputs of an earlier one, or of eager, marked as such."""
    seen = {_digest(eager): "eager"}
    marked: list[HealthyCell] = []
    for cell, digest in cells:
        marked.append(HealthyCell(cell.target, cell.judged, cell.refused, seen.get(digest)))
        seen.setdefault(digest, cell.target)
    return tuple(marked)
