"""Telling an ONNX file from anything else by its outermost fields, without the onnx package."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from parity.errors import ModelError

_VARINT, _BYTES = 0, 2
"""The two wire types that the fields of `ModelProto` have; see the encoding guide of protocol buffers."""

_GRAPH = 7
_IR_VERSION, _OPSETS = 1, 8
_FIELDS = {
    _IR_VERSION: _VARINT, 2: _BYTES, 3: _BYTES, 4: _BYTES, 5: _VARINT, 6: _BYTES,
    _GRAPH: _BYTES, _OPSETS: _BYTES, 14: _BYTES, 20: _BYTES, 25: _BYTES, 26: _BYTES,
}  # fmt: skip
"""Field numbers of `ModelProto` in onnx.proto, with their wire types."""

_LONGEST_VARINT = 10


def is_onnx(path: Path, file: BinaryIO, size: int) -> bool:
    """Whether the whole file is a `ModelProto` with a graph: each field is one of its own, and they end with the file.

    Raises:
        ModelError: it begins like one, and its graph does not end within the file.
    """
    file.seek(0)
    seen: set[int] = set()
    while file.tell() < size:
        tag = _varint(file)
        if tag is None or _FIELDS.get(tag >> 3) != tag & 7:
            return False
        value = _varint(file)
        if value is None:
            return False
        field = tag >> 3
        seen.add(field)
        if _FIELDS[field] == _BYTES and file.seek(value, 1) > size:
            if field == _GRAPH and _IR_VERSION in seen:
                raise ModelError("the ONNX file is truncated", where=str(path), got=f"{size:,} bytes of {file.tell():,}"
                                 " or more", hint="copy it again")  # fmt: skip
            return False
    return _GRAPH in seen and bool(seen & {_IR_VERSION, _OPSETS})


def _varint(file: BinaryIO) -> int | None:
    value = 0
    for position in range(_LONGEST_VARINT):
        byte = file.read(1)
        if not byte:
            return None
        value |= (byte[0] & 0x7F) << (7 * position)
        if byte[0] < 0x80:  # noqa: PLR2004  # the bit that says another byte follows
            return value
    return None
