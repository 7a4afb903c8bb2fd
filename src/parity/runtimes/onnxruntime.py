"""ONNX Runtime, on the CPU or on the GPU it really uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from parity.arrays import Array
from parity.artifacts import Artifact
from parity.errors import ParityError
from parity.models.matching import Matching, match_ports, told
from parity.models.ports import Port
from parity.registry import Availability, needs_one_of
from parity.runtimes.base import Session, SessionOptions
from parity.runtimes.inputs import input_doubts, input_facts, match_inputs, output_doubts
from parity.runtimes.onnx_refused import why_refused
from parity.runtimes.onnx_values import answer, check_sizes, feed, ports

_PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}


class OnnxRuntime:
    """Opens ONNX files, with external data beside them or without, and those of its own format."""

    name = "onnxruntime"
    formats = frozenset({"onnx", "ort"})

    def availability(self) -> Availability:
        return needs_one_of("onnxruntime", "onnxruntime-gpu", install="torch-parity[cpu]")

    def open(self, artifact: Artifact, options: SessionOptions) -> Session:
        import onnxruntime  # noqa: PLC0415  # optional, and after torch: the other order has been seen to be slow

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = options.threads
        settings.inter_op_num_threads = 1
        settings.log_severity_level = 3
        # Idle pools would slow down whatever is timed beside this session.
        settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
        wanted = _PROVIDERS[options.device]
        providers = [wanted] if options.device == "cpu" else [wanted, _PROVIDERS["cpu"]]
        try:
            if artifact.manifest.format == "ort":  # whatever it is called
                settings.add_session_config_entry("session.load_model_format", "ORT")
            session = onnxruntime.InferenceSession(str(artifact.entry), settings, providers=providers)
        except Exception as error:
            why = why_refused(artifact.entry) if artifact.manifest.format == "onnx" else None
            if why is None:
                raise
            raise ParityError(why) from error
        used = session.get_providers()[0]
        if used != wanted:
            raise ParityError(
                f"ONNX Runtime was asked for {wanted} and uses {used}",
                hint="install onnxruntime-gpu and a matching CUDA, or leave the device at cpu",
            )
        return OnnxSession(session, options, artifact.manifest.outputs, used)


class OnnxSession:
    """Feeds and reads a graph under the model's names, whatever the graph calls its inputs and outputs."""

    def __init__(self, session: Any, options: SessionOptions, outputs: tuple[str, ...], provider: str) -> None:
        self._session = session
        own = ports(session.get_inputs())
        matching = match_inputs(own, options)
        self._feeds = {pair.own: pair.name for pair in matching.pairs}
        self._ports = {port.name: port for port in own}
        produced = ports(session.get_outputs())
        self._outputs, matched = _output_names(produced, outputs, options.outputs)
        self._plain = not any(port.dtype == "bfloat16" for port in (*own, *produced))
        self.facts = {"provider": provider, **self._rounded(options), **input_facts(matching)}
        self.doubts = input_doubts(matching)
        if matched is not None:
            self.doubts |= output_doubts(matched)
            said = told(matched)
            self.facts |= {"outputs": said} if said else {}

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One call; a sequence or map output is refused by name."""
        fed = {own: feed(inputs[name], self._ports[own]) for own, name in self._feeds.items()}
        try:
            results = self._session.run(None, fed) if self._plain else answer(self._session, fed)
        except Exception as error:
            check_sizes(fed, self._ports, error)
            raise
        for name, result in zip(self._outputs, results, strict=True):
            if not isinstance(result, np.ndarray):
                raise ParityError(f"the output {name!r} is a {type(result).__name__}, not a tensor")
        return dict(zip(self._outputs, results, strict=True))

    def _rounded(self, options: SessionOptions) -> dict[str, str]:
        """A graph of another precision takes inputs of its own, which is part of what its precision costs."""
        wanted = {port.name: port.dtype for port in options.inputs}
        found: dict[str, list[str]] = {}
        for own, name in self._feeds.items():
            dtype = self._ports[own].dtype
            if dtype in _REDUCED if wanted.get(name) is None else dtype != wanted[name]:
                found.setdefault(str(dtype), []).append(own)
        said = [f"inputs to {dtype}: {', '.join(sorted(names))}" for dtype, names in found.items()]
        return {"rounded": "; ".join(said)} if said else {}


_REDUCED = ("float16", "bfloat16")


def _output_names(
    own: Sequence[Port], names: tuple[str, ...], known: Sequence[Port]
) -> tuple[tuple[str, ...], Matching | None]:
    """Names for the graph's outputs: the model's where they can be told, else the graph's own."""
    graph = tuple(port.name for port in own)
    if len(set(graph)) < len(graph):  # one value that is returned twice
        return (names if len(names) == len(graph) else graph), None
    described = {port.name: port for port in known}
    matching = match_ports(own, [described.get(name, Port(name)) for name in names])
    renamed = {pair.own: pair.name for pair in matching.pairs}
    return tuple(renamed.get(name, name) for name in graph), matching
