"""Arrays as ONNX Runtime takes and returns them, in the dtypes that a graph declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from parity.arrays import Array
from parity.errors import ParityError
from parity.models.ports import Port, same_shape

_DTYPES = {"float": "float32", "double": "float64"}
"""What ONNX Runtime calls otherwise than torch does."""

_BFLOAT16 = 16
"""`onnx.TensorProto.BFLOAT16`."""


def ports(arguments: Iterable[Any]) -> tuple[Port, ...]:
    """The inputs or outputs of a session (`NodeArg`); of what is no tensor only the name is known."""
    return tuple(_port(each.name, each.type, each.shape) for each in arguments)


def _port(name: str, kind: str, shape: list[Any] | None) -> Port:
    if not kind.startswith("tensor("):
        return Port(name)
    inside = kind.removeprefix("tensor(").removesuffix(")")
    # A scalar and an unknown rank are both an empty shape to ONNX Runtime.
    dims = tuple(size if isinstance(size, int) and size > 0 else None for size in shape) if shape else None
    return Port(name, _DTYPES.get(inside, inside), dims)


def feed(array: Array, port: Port) -> Array:
    """An array in the dtype of a graph's input: floats are rounded, integers have to fit.

    bfloat16, which NumPy has not, is left for `answer` to round.

    Raises:
        ParityError: an integer does not fit.
    """
    dtype = port.dtype
    if dtype in (None, "bfloat16", array.dtype.name):
        return array
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        return array
    if array.dtype.kind == wanted.kind == "f":
        return array.astype(wanted)
    if array.dtype.kind in "iu" and wanted.kind in "iu":
        cast = array.astype(wanted)
        if not np.array_equal(cast, array):
            raise ParityError(
                f"the artifact's input {port.name} is {dtype}, and a sample holds a number that does not fit"
            )
        return cast
    return array


def check_sizes(fed: Mapping[str, Array], known: Mapping[str, Port], refused: Exception) -> None:
    """Say of a refused call which input the graph takes in another size; ONNX Runtime tells it in several lines.

    Raises:
        ParityError: one has another size than the graph's.
    """
    for name, array in fed.items():
        if not same_shape(Port(name, dims=array.shape), known[name]):
            got = list(array.shape)
            raise ParityError(f"the graph takes {known[name]}, and was given {got}") from refused


def answer(session: Any, inputs: Mapping[str, Array]) -> list[Any]:
    """One call of a graph that takes or returns bfloat16 somewhere; its outputs as arrays."""
    import onnxruntime  # noqa: PLC0415  # optional
    import torch  # noqa: PLC0415  # only for numbers that NumPy has not
    from torch.utils.dlpack import from_dlpack  # noqa: PLC0415  # the same

    from parity.compare.structure import to_arrays  # noqa: PLC0415  # beside torch

    reduced = {each.name for each in session.get_inputs() if each.type == "tensor(bfloat16)"}
    fed: dict[str, Any] = {}
    for name, array in inputs.items():
        if name in reduced:
            bits = torch.from_numpy(np.asarray(array, np.float32)).bfloat16().view(torch.uint16).numpy()
            fed[name] = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, _BFLOAT16)
        else:
            fed[name] = onnxruntime.OrtValue.ortvalue_from_numpy(array)
    found: list[Any] = []
    for value in session.run_with_ort_values(None, fed):
        if value.data_type() == "tensor(bfloat16)":
            found.append(to_arrays(from_dlpack(value._ortvalue.to_dlpack()).clone())["output"])  # noqa: SLF001  # there is no public way to its bits
        else:
            found.append(value.numpy())
    return found
