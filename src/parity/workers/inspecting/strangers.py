"""Files that are no artifact, or one of a format that no runtime here reads, each called what it is."""

from __future__ import annotations

from pathlib import Path

from parity.errors import ModelError, UsageError
from parity.models.files.foreign import other_runtime
from parity.models.files.kinds import CHECKPOINT, ONNX, SAFETENSORS, file_kind
from parity.runtimes import RUNTIMES

WEIGHTS = "a checkpoint: it holds weights and no program"
_HEAD = 512


_SUFFIXES = {
    ".engine": "a TensorRT engine", ".plan": "a TensorRT engine", ".trt": "a TensorRT engine",
    ".mlmodel": "a Core ML model", ".pb": "a TensorFlow graph", ".keras": "a Keras model", ".mnn": "an MNN model",
}  # fmt: skip
"""Formats whose content does not say what it is; what does is not looked up here."""


def refuse_stranger(path: Path) -> None:
    """Let through what is an ONNX file, or was one before it was damaged.

    Raises:
        UsageError: it is anything else, which the message names.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    what = other_runtime(head)
    if what is not None:
        raise _unread(path, what)
    try:
        kind = file_kind(path)
    except ModelError as error:
        if path.suffix.lower() in _SUFFIXES:
            raise _unread(path, _SUFFIXES[path.suffix.lower()]) from error
        if _may_be_onnx(path, head):
            return
        raise no_artifact(path, error) from error
    if kind in (CHECKPOINT, SAFETENSORS):
        raise not_an_artifact(path, WEIGHTS, f"parity report {path}")
    if kind != ONNX:
        raise not_an_artifact(path, kind)


def refuse_strange_folder(folder: Path) -> None:
    """Raises UsageError where a folder is itself a model in a format that nothing here reads."""
    if folder.suffix == ".mlpackage" or (folder / "Data" / "com.apple.CoreML").is_dir():
        raise _unread(folder, "a Core ML package")
    if (folder / "saved_model.pb").is_file():
        raise _unread(folder, "a TensorFlow SavedModel")


def no_artifact(path: Path, error: ModelError) -> UsageError:
    """What is no model is no artifact either: the same words for another request."""
    got = f"{error.what}: {error.got}" if error.got else error.what
    return not_an_artifact(path, got, error.hint)


def not_an_artifact(path: Path, got: str, hint: str | None = None) -> UsageError:
    """The error for what is no artifact."""
    allowed = "TorchScript, .pt2, or ONNX"
    return UsageError("this file is no artifact", where=str(path), allowed=allowed, got=got, hint=hint)


def _may_be_onnx(path: Path, head: bytes) -> bool:
    """Whether a file that is called so has content that is neither text nor anything else that is known."""
    return path.suffix == ".onnx" and bool(head) and not _is_text(head) and not head.startswith(b"PK\x03\x04")


def _is_text(head: bytes) -> bool:
    """Whether the beginning is printable text; what protobuf writes is not, from its first byte on."""
    return all(byte >= ord(" ") or byte in b"\t\n\r" for byte in head)


def _unread(path: Path, what: str) -> UsageError:
    formats = sorted({each for name in RUNTIMES for each in RUNTIMES.get(name).formats})
    return UsageError(f"this is {what}, and no runtime here reads it", where=str(path), allowed=", ".join(formats),
                      hint="parity targets lists the runtimes; a package may add another one")  # fmt: skip
