"""Arrays on disk between processes: one raw file that is memory-mapped, and a JSON index beside it.

Nothing is pickled, any dtype and shape may follow any other, and a reader touches only the bytes that
it asks for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing_extensions import Self

Array = npt.NDArray[np.generic]

_ALIGNMENT = 64


class ArrayWriter:
    """Appends arrays under string keys to `folder/name.bin`; `close` writes `folder/name.json`."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._index_path = folder / f"{name}.json"
        self._file = (folder / f"{name}.bin").open("wb")
        self._index: dict[str, tuple[str, list[int], int]] = {}

    def put(self, key: str, array: Array) -> None:
        """Append one array; a key can be written once."""
        if key in self._index:
            raise KeyError(f"{key!r} is already written")
        if array.dtype.hasobject:
            raise TypeError(f"{key!r} holds Python objects, not numbers")
        offset = -(-self._file.tell() // _ALIGNMENT) * _ALIGNMENT
        self._file.seek(offset)
        self._file.write(np.ascontiguousarray(array).data if array.size else b"")
        self._index[key] = (array.dtype.str, list(array.shape), offset)

    def put_all(self, prefix: str, arrays: Mapping[str, Array]) -> None:
        """Append named arrays under `prefix/name`."""
        for name, array in arrays.items():
            self.put(f"{prefix}/{name}", array)

    def close(self) -> None:
        """Flush the arrays and write the index; without it nothing can be read."""
        self._file.truncate(max(self._file.tell(), 1))
        self._file.close()
        self._index_path.write_text(json.dumps(self._index))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._file.close()  # and no index: half of a run must not look whole


class ArrayReader:
    """Reads what an `ArrayWriter` wrote, as read-only views of a memory map."""

    def __init__(self, folder: Path, name: str) -> None:
        index: dict[str, tuple[str, list[int], int]] = json.loads((folder / f"{name}.json").read_text())
        self._index = index
        self._map = np.memmap(folder / f"{name}.bin", dtype=np.uint8, mode="r")
        self._names: dict[str, list[str]] = {}
        for key in index:
            prefix, _, name_ = key.partition("/")
            self._names.setdefault(prefix, []).append(name_)

    def __contains__(self, key: str) -> bool:
        return key in self._index

    def get(self, key: str) -> Array:
        """The array of a key; raises KeyError where it was never written."""
        dtype, shape, offset = self._index[key]
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self._map, dtype=np.dtype(dtype), count=count, offset=offset).reshape(shape)

    def get_all(self, prefix: str) -> dict[str, Array]:
        """Every array under `prefix/`, by the rest of its key, in the order written."""
        return {name: self.get(f"{prefix}/{name}") for name in self._names.get(prefix, [])}


def digest(array: Array) -> str:
    """SHA-256 over dtype, shape and bytes, so that equal numbers of another kind differ."""
    sha = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    sha.update(np.ascontiguousarray(array).data if array.size else b"")
    return sha.hexdigest()
