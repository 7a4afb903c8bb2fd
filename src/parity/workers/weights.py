"""The weights that an artifact holds, against those of the model that it is said to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from parity.arrays import BFLOAT16, Array
from parity.artifacts import Artifact
from parity.compare.structure import to_arrays
from parity.compare.weights import WeightFacts, compare_weights
from parity.models.build import build_unbound
from parity.models.files.keys import fit_names
from parity.models.spec import ModelSpec


def held_weights(spec: ModelSpec, artifact: Artifact) -> WeightFacts:
    """Build the model and compare its weights with the artifact's, by name.

    Raises:
        Exception: the model cannot be built, or the artifact not read; nothing can be said of its weights then.
    """
    ours = to_arrays(_floats(build_unbound(spec).module.state_dict()))
    theirs, beside = _read(artifact)
    names = fit_names(theirs, ours).names
    return compare_weights(
        {names[name]: array for name, array in theirs.items()}, ours, {names[name] for name in beside}
    )


def _floats(state: Mapping[str, Any]) -> dict[str, Any]:
    """Packed weights of quantized layers are no tensors, and integers are no weights."""
    return {
        name: each for name, each in state.items() if hasattr(each, "is_floating_point") and each.is_floating_point()
    }


def _read(artifact: Artifact) -> tuple[dict[str, Array], frozenset[str]]:
    """Every weight by name, and the names of those that lie in a file of their own."""
    import torch  # noqa: PLC0415  # a stage loads it

    if artifact.manifest.format == "onnx":
        return _onnx(artifact)
    if artifact.manifest.format == "exported-program":
        program = torch.export.load(artifact.entry)
        return to_arrays(_floats(program.state_dict)), frozenset()
    return to_arrays(_floats(torch.jit.load(artifact.entry, map_location="cpu").state_dict())), frozenset()


def _onnx(artifact: Artifact) -> tuple[dict[str, Array], frozenset[str]]:
    import onnx  # noqa: PLC0415  # optional
    from onnx import external_data_helper, numpy_helper  # noqa: PLC0415  # optional

    model = onnx.load(artifact.entry, load_external_data=False)
    stored = model.graph.initializer
    beside = frozenset(tensor.name for tensor in stored if external_data_helper.uses_external_data(tensor))
    external_data_helper.load_external_data_for_model(model, str(artifact.folder))
    return {tensor.name: _held(numpy_helper.to_array(tensor)) for tensor in stored}, beside


def _held(array: Any) -> Array:
    """bfloat16 as it is held everywhere else."""
    made: Array = array.astype(np.float32).view(BFLOAT16) if array.dtype.name == "bfloat16" else array
    return made
