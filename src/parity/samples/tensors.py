"""Tensors in `.pt` and `.safetensors` files: mapped or read slice by slice, and never a pickle that runs code."""

from __future__ import annotations

import codecs
import pickle
import struct
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from parity.arrays import Array
from parity.errors import SampleError
from parity.models.signature import DTYPES
from parity.models.wording import printable
from parity.samples.rows import Column, Columns, Key
from parity.samples.values import array_of

_DAMAGED = (
    *(RuntimeError, OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, IndexError, AssertionError),
    *(MemoryError, struct.error, zipfile.BadZipFile),
)
"""What torch raises for a file that is damaged."""


def load_tensors(path: Path) -> Any:
    """What `torch.save` wrote, its tensors mapped from the file; of the format before 2020 it is all in memory.

    Raises:
        SampleError: it is damaged, or holds more than tensors, so that reading it would run code.
    """
    import torch  # noqa: PLC0415  # only for files of its kind

    try:
        with warnings.catch_warnings(), torch.serialization.safe_globals(_numpy_globals()):
            warnings.simplefilter("ignore")  # torch remarks on how the file was written, which no reader can change
            return torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path) or None)
    except pickle.UnpicklingError as error:
        raise SampleError(
            "the sample file holds more than tensors, and reading it would run code of its own", where=str(path),
            allowed="tensors in dictionaries, lists and tuples", got=_reason(error),
            hint="save tensors: torch.save({'x': torch.stack(samples)}, ...)",
        ) from error  # fmt: skip
    except _DAMAGED as error:
        raise SampleError(f"the sample file is damaged or was cut off: {_reason(error)}", where=str(path)) from error


def _numpy_globals() -> list[Any]:
    """What a pickle names to make arrays of numbers, under the names that NumPy 1 and 2 give it."""
    reconstruct = np.zeros(0).__reduce__()[0]
    modules = ("numpy._core.multiarray", "numpy.core.multiarray")
    renamed = [(reconstruct, f"{module}._reconstruct") for module in modules]
    kinds = {type(np.dtype(text)) for text in DTYPES.values()}
    return [*renamed, np.ndarray, np.dtype, codecs.encode, *kinds]


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = next((line for line in lines if "GLOBAL" in line), lines[0] if lines else type(error).__name__)
    return printable(told[:200])


@dataclass(frozen=True)
class Slices:
    """One array in a `.safetensors` file, of which a row is read when it is asked for."""

    path: Path
    name: str
    shape: tuple[int, ...]

    def __iter__(self) -> Iterator[Array]:
        """One row after the other."""
        with _opened(self.path) as stream:
            rows = stream.get_slice(self.name)
            for index in range(self.shape[0] if self.shape else 0):
                yield array_of(rows[index : index + 1][0], str(self.path))

    def whole(self) -> Array:
        """All of it, in memory."""
        with _opened(self.path) as stream:
            return array_of(stream.get_tensor(self.name), str(self.path))


def open_safetensors(path: Path) -> Columns:
    """The arrays of a file by name, its header alone read.

    Raises:
        SampleError: it is damaged or was cut off.
    """
    with _opened(path) as stream:
        arrays: dict[Key, Column] = {
            name: Slices(path, name, tuple(stream.get_slice(name).get_shape())) for name in stream.keys()  # noqa: SIM118  # it is no dictionary
        }  # fmt: skip
    return Columns(str(path), arrays)


def _opened(path: Path) -> Any:
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415  # only for files of its kind

    try:
        return safe_open(path, framework="pt")
    except (SafetensorError, OSError, ValueError) as error:
        raise SampleError(f"the sample file is damaged or was cut off: {error}", where=str(path)) from error
