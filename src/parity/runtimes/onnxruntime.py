"""ONNX Runtime, on the CPU or on the GPU it really uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from parity.arrays import Array
from parity.artifacts import Artifact
from parity.errors import ParityError
from parity.registry import Availability, needs_one_of
from parity.runtimes.base import Session, SessionOptions

_PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}


class OnnxRuntime:
    """Opens ONNX files, with external data beside them or without."""

    name = "onnxruntime"
    formats = frozenset({"onnx"})

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
        session = onnxruntime.InferenceSession(str(artifact.entry), settings, providers=providers)
        used = session.get_providers()[0]
        if used != wanted:
            raise ParityError(
                f"ONNX Runtime was asked for {wanted} and uses {used}",
                hint="install onnxruntime-gpu and a matching CUDA, or leave the device at cpu",
            )
        return OnnxSession(session, options.names, artifact.manifest.outputs, used)


class OnnxSession:
    """Feeds inputs by name; a graph that names them otherwise gets them in the order of `forward`."""

    def __init__(self, session: Any, names: tuple[str, ...], outputs: tuple[str, ...], provider: str) -> None:
        self._session = session
        own = [each.name for each in session.get_inputs()]
        self._feeds = _match_inputs(own, names)
        self._halved = {each.name for each in session.get_inputs() if each.type == "tensor(float16)"}
        produced = [each.name for each in session.get_outputs()]
        self._outputs = _match_outputs(tuple(produced), outputs)
        self.facts = {"provider": provider}
        if self._halved:
            self.facts["rounded"] = f"inputs to float16: {', '.join(sorted(self._halved))}"
        if not set(own) <= set(names):
            self.facts["inputs"] = f"matched by position: {', '.join(own)}"
        if set(self._outputs) != set(produced):
            unknown = [name for name in produced if name not in outputs]
            self.facts["outputs"] = f"matched by position: {', '.join(unknown)}"

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One call; a sequence or map output is refused by name."""
        results = self._session.run(None, {own: self._fed(own, inputs[name]) for own, name in self._feeds.items()})
        for name, result in zip(self._outputs, results, strict=True):
            if not isinstance(result, np.ndarray):
                raise ParityError(f"the output {name!r} is a {type(result).__name__}, not a tensor")
        return dict(zip(self._outputs, results, strict=True))

    def _fed(self, own: str, array: Array) -> Array:
        """A graph in float16 takes inputs in float16, which is part of what its precision costs."""
        return array.astype(np.float16) if own in self._halved and array.dtype.kind == "f" else array


def _match_inputs(own: list[str], names: tuple[str, ...]) -> dict[str, str]:
    """Graph input to model input. An exporter may leave out an input that the graph never reads."""
    if set(own) <= set(names):
        return {name: name for name in own}
    if len(own) == len(names) and not set(own) & set(names):
        return dict(zip(own, names, strict=True))
    raise ParityError(
        "the graph's inputs do not match the model's", allowed=", ".join(names), got=", ".join(own) or "none"
    )


def _match_outputs(own: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """Names for the graph's outputs: its own where they are the model's, the model's other ones in order."""
    if len(own) != len(names):
        return own
    if len(set(own)) < len(own):  # one value that is returned twice
        return names
    others = iter([name for name in names if name not in own])
    return tuple(name if name in names else next(others) for name in own)
