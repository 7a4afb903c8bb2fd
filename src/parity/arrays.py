"""Arrays on disk between processes: one raw file that is memory-mapped, and its index.

Nothing is pickled, any dtype and shape may follow any other, and a reader touches only the bytes that
it asks for.
"""

from __future__ import annotations

import copy
import hashlib
import json
from array import array as numbers
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing_extensions import Self

Array = npt.NDArray[np.generic]

_ALIGNMENT = 64

_Kind = tuple[str, tuple[int, ...]]
"""Dtype and shape."""

_NOT_IN_NUMPY = "bfloat16"

BFLOAT16: np.dtype[np.generic] = np.dtype(np.float32, metadata={"stands for": _NOT_IN_NUMPY})
"""NumPy has no bfloat16: its numbers are held as float32, which holds each exactly, and are called what they are."""


def dtype_name(array: Array) -> str:
    """What an array is one of, as torch calls it: `bfloat16` where float32 stands for it."""
    metadata: Mapping[str, str] = dict(array.dtype.metadata or {})
    return metadata.get("stands for", array.dtype.name)


def dtype_of(name: str) -> np.dtype[np.generic]:
    """The NumPy dtype under which arrays of a dtype are held; TypeError where there is none."""
    return BFLOAT16 if name == _NOT_IN_NUMPY else np.dtype(name)


class ArrayWriter:
    """Appends arrays under string keys to `folder/name.bin`; `close` writes `folder/name.json`.

    The index lies at the end of the same file, as arrays, and the JSON says where: a key costs a reader no memory.
    """

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._index_path = folder / f"{name}.json"
        self._file = (folder / f"{name}.bin").open("wb")
        self._keys: dict[str, None] = {}
        self._kinds: dict[_Kind, int] = {}
        self._kind_of = numbers("q")
        self._offsets = numbers("q")

    def put(self, key: str, array: Array) -> None:
        """Append one array; a key can be written once."""
        if key in self._keys:
            raise KeyError(f"{key!r} is already written")
        if array.dtype.hasobject:
            raise TypeError(f"{key!r} holds Python objects, not numbers")
        self._offsets.append(self._append(array))
        self._kind_of.append(self._kinds.setdefault((_written(array), array.shape), len(self._kinds)))
        self._keys[key] = None

    def _append(self, array: Array) -> int:
        offset = -(-self._file.tell() // _ALIGNMENT) * _ALIGNMENT
        self._file.seek(offset)
        self._file.write(np.ascontiguousarray(array).data if array.size else b"")
        return offset

    def put_all(self, prefix: str, arrays: Mapping[str, Array]) -> None:
        """Append named arrays under `prefix/name`."""
        for name, array in arrays.items():
            self.put(f"{prefix}/{name}", array)

    def close(self) -> None:
        """Flush the arrays and write the index; without it nothing can be read."""
        keys = np.asarray([key.encode() for key in self._keys] or [b""])[: len(self._keys)]
        order = np.argsort(keys)
        index = {
            "keys": keys[order],
            "places": order,
            "kinds": np.asarray(self._kind_of, np.int64),
            "offsets": np.asarray(self._offsets, np.int64),
        }
        where = {name: (each.dtype.str, each.shape, self._append(each.view(np.uint8))) for name, each in index.items()}
        self._file.truncate(max(self._file.tell(), 1))
        self._file.close()
        self._index_path.write_text(json.dumps({"kinds": list(self._kinds), "index": where}))

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
        about = json.loads((folder / f"{name}.json").read_text())
        self._map = np.memmap(folder / f"{name}.bin", dtype=np.uint8, mode="r")
        self._kinds: list[_Kind] = [(dtype, tuple(shape)) for dtype, shape in about["kinds"]]
        index = {part: self._view(dtype, shape, offset) for part, (dtype, shape, offset) in about["index"].items()}
        self._keys = index["keys"]
        self._places, self._kind_of, self._offsets = (index[part] for part in ("places", "kinds", "offsets"))
        self._views: Mapping[str, Callable[[], Array]] = {}

    def __contains__(self, key: str) -> bool:
        return self._find(key) is not None

    def get(self, key: str) -> Array:
        """The array of a key; raises KeyError where it was never written."""
        if key in self._views:
            return self._views[key]()
        place = self._find(key)
        if place is None:
            raise KeyError(key)
        return self._at(place)

    def get_all(self, prefix: str) -> dict[str, Array]:
        """Every array under `prefix/`, by the rest of its key, in the order written."""
        found = self._starting(f"{prefix}/")
        return {
            key[len(prefix) + 1 :]: self._views[key]() if key in self._views else self._at(place)
            for place, key in found
        }

    def prefixes(self, start: str = "") -> list[str]:
        """What stands before the first `/` of the keys that begin with `start`, each once, in the order written."""
        return list(dict.fromkeys(key.partition("/")[0] for _, key in self._starting(start)))

    def viewed(self, views: Mapping[str, Callable[[], Array]]) -> ArrayReader:
        """The same arrays, those of some keys seen otherwise; each is made whenever it is asked for."""
        other = copy.copy(self)
        other._views = {**self._views, **views}  # noqa: SLF001  # a copy of this very object
        return other

    @property
    def has_views(self) -> bool:
        """Whether any key is seen otherwise than it was written."""
        return bool(self._views)

    def plain(self) -> ArrayReader:
        """The same arrays as they were written, without any views."""
        other = copy.copy(self)
        other._views = {}  # noqa: SLF001  # the same
        return other

    def _starting(self, start: str) -> list[tuple[int, str]]:
        """Place in the order written, and key, of the keys that begin with `start`."""
        first, last = 0, len(self._keys)
        if start:
            encoded = start.encode()
            first, last = self._sorted_place(encoded), self._sorted_place(encoded[:-1] + bytes([encoded[-1] + 1]))
        found = zip(self._places[first:last].tolist(), self._keys[first:last].tolist(), strict=True)
        return sorted((place, key.decode()) for place, key in found)

    def _find(self, key: str) -> int | None:
        wanted = key.encode()
        place = self._sorted_place(wanted)
        return int(self._places[place]) if place < len(self._keys) and self._keys[place] == wanted else None

    def _sorted_place(self, key: bytes) -> int:
        # A key of another width would have NumPy convert all of the others to it. One that is too long for the
        # index is in none, and what it is cut to is then not what was looked for.
        return int(np.searchsorted(self._keys, np.asarray(key, self._keys.dtype)))

    def _at(self, place: int) -> Array:
        dtype, shape = self._kinds[int(self._kind_of[place])]
        return self._view(dtype, shape, int(self._offsets[place]))

    def _view(self, dtype: str, shape: Sequence[int], offset: int) -> Array:
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self._map, dtype=dtype_of(dtype), count=count, offset=offset).reshape(shape)


def _written(array: Array) -> str:
    name = dtype_name(array)
    return name if name == _NOT_IN_NUMPY else array.dtype.str


def digest(array: Array) -> str:
    """SHA-256 over dtype, shape and bytes, so that equal numbers of another kind differ."""
    sha = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    sha.update(np.ascontiguousarray(array).data if array.size else b"")
    return sha.hexdigest()
