"""Arrays in `.npz` and `.npy` files, read along their first axis: never more of one in memory than is asked for."""

from __future__ import annotations

import contextlib
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

import numpy as np
from numpy.lib import format as npy

from parity.arrays import Array
from parity.errors import SampleError
from parity.models.wording import printable

_DAMAGED = (
    *(ValueError, OSError, EOFError, KeyError, TypeError, IndexError, MemoryError, struct.error),
    *(zipfile.BadZipFile, zlib.error, RuntimeError),  # the last for a member that is encrypted, or compressed otherwise
    *(tokenize.TokenError, SyntaxError),  # of a header, which NumPy reads as Python
)
"""What reading a damaged file raises."""

_SKIP = 1 << 20
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
"""How the header of a version is read. Version 3.0 is for field names of structured arrays, which no input can be."""


@dataclass(frozen=True)
class StackedArray:
    """An array in a file whose first axis counts samples."""

    path: Path
    member: str | None
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    fortran: bool

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 0

    def __iter__(self) -> Iterator[Array]:
        """One row after the other. A member of a `.npz` is decompressed as far as it is read.

        In Fortran order the numbers of a row lie all over the array, so that it has to be read whole.

        Raises:
            SampleError: the file is damaged or ends too early.
        """
        if not self.shape:
            return
        if self.member is None or self.fortran:
            yield from self.whole()
            return
        with _reading(self.path), zipfile.ZipFile(self.path) as archive, archive.open(self.member) as stream:
            _read_header(stream)
            row = self.shape[1:]
            size = int(np.prod(row, dtype=np.int64)) * self.dtype.itemsize
            for index in range(len(self)):
                data = stream.read(size)
                if len(data) < size:
                    raise EOFError(f"{self.member} ends within sample {index} of {len(self)}")
                yield np.frombuffer(data, np.uint8).view(self.dtype).reshape(row) if size else np.zeros(row, self.dtype)
            while stream.read(_SKIP):  # the checksum is compared at the end of a member
                pass

    def whole(self) -> Array:
        """All of it: memory-mapped from a `.npy`, in memory from a `.npz`; raises as iterating does."""
        with _reading(self.path):
            if self.member is None:
                mapped: Array = np.load(self.path, mmap_mode="r", allow_pickle=False)
                return mapped
            with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as stream:
                array: Array = npy.read_array(stream, allow_pickle=False)
                while stream.read(_SKIP):
                    pass
                return array


def open_arrays(path: Path) -> Mapping[str, StackedArray]:
    """The arrays of a `.npz` or `.npy` file by name, their headers alone read; that of a `.npy` is called `array`.

    Raises:
        SampleError: it is damaged, or holds Python objects.
    """
    with _reading(path):
        with path.open("rb") as stream:
            single = stream.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX
        if single:
            with path.open("rb") as stream:
                found = {"array": _opened(path, None, stream)}
            np.load(path, mmap_mode="r", allow_pickle=False)  # maps all of it, so that a file cut off is found now
            return MappingProxyType(found)
        with zipfile.ZipFile(path) as archive:
            arrays = {}
            for member in (name for name in archive.namelist() if name.endswith(".npy")):
                with archive.open(member) as stream:
                    arrays[member.removesuffix(".npy")] = _opened(path, member, stream)
            return MappingProxyType(arrays)


def _opened(path: Path, member: str | None, stream: IO[bytes]) -> StackedArray:
    shape, fortran, dtype = _read_header(stream)
    if dtype.hasobject:
        raise ValueError(f"{member or path.name} holds Python objects")
    return StackedArray(path, member, shape, dtype, fortran and len(shape) > 1)


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    version = npy.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"version {version} of the array format")
    header: tuple[tuple[int, ...], bool, np.dtype[np.generic]] = _HEADERS[version](stream)
    return header


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        raise SampleError(
            f"the sample file is damaged or holds no plain arrays: {printable(str(error))}", where=str(path)
        ) from error
