"""Files that are no artifact, or one of a format that no runtime here reads, each called what it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from parity.errors import UsageError
from parity.runtimes import RUNTIMES

_HEAD = 512


@dataclass(frozen=True)
class _Magic:
    """Bytes at the beginning of a file that tell what it is."""

    what: str
    bytes: bytes
    at: int = 0


_FORMATS = (
    _Magic("a TensorFlow Lite model", b"TFL3", 4),
    _Magic("an ExecuTorch program", b"ET", 4),
    _Magic("a TensorRT engine", b"ftrt"),
    _Magic("an HDF5 file, as Keras writes it", b"\x89HDF\r\n\x1a\n"),
    _Magic("a GGUF model", b"GGUF"),
    _Magic("a compiled library", b"\x7fELF"),
    _Magic("an ncnn model", b"7767517"),
)
"""Other formats of models."""

_SUFFIXES = {
    ".engine": "a TensorRT engine", ".plan": "a TensorRT engine", ".trt": "a TensorRT engine",
    ".mlmodel": "a Core ML model", ".tflite": "a TensorFlow Lite model", ".pte": "an ExecuTorch program",
    ".pb": "a TensorFlow graph", ".h5": "an HDF5 file, as Keras writes it", ".keras": "a Keras model",
    ".blob": "an OpenVINO blob", ".mnn": "an MNN model", ".so": "a compiled library",
}  # fmt: skip
"""Formats whose content does not say what it is; what does is not looked up here."""

_NO_MODEL = (
    _Magic("a Git LFS pointer: the file itself has not been fetched", b"version https://git-lfs"),
    _Magic("a web page", b"<!doctype html"),
    _Magic("a web page", b"<html"),
)
"""What is found in a model's place after a failed download; compared without regard to case."""

_WEIGHTS = "a checkpoint: it holds weights and no program"


def refuse_stranger(path: Path) -> None:
    """Let through what may be an ONNX file.

    Raises:
        UsageError: it is anything else, which the message names.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise _none(path, "an empty file", "copy or export it again")
    lower = head.lstrip().lower()
    for each in _NO_MODEL:
        if lower.startswith(each.bytes):
            raise _none(path, each.what, "git lfs pull" if "LFS" in each.what else "download it again")
    if head.startswith(b"PK\x03\x04"):
        raise _none(path, "a zip archive without its directory: it was cut off", "copy or export it again")
    if head[:1] == b"\x80" or _is_safetensors(head):
        raise _none(path, _WEIGHTS, "give it as the model: parity report MODEL")
    what = next((each.what for each in _FORMATS if head[each.at :].startswith(each.bytes)), None)
    if b"<net " in head and lower.startswith(b"<"):
        what = "an OpenVINO model"
    what = what or _SUFFIXES.get(path.suffix.lower())
    if what is not None:
        raise _unread(path, what)
    if _is_text(head):
        raise _none(path, "a text file", "check the path given to --artifact")


def refuse_strange_folder(folder: Path) -> None:
    """Raises UsageError where a folder is itself a model in a format that nothing here reads."""
    if folder.suffix == ".mlpackage" or (folder / "Data" / "com.apple.CoreML").is_dir():
        raise _unread(folder, "a Core ML package")
    if (folder / "saved_model.pb").is_file():
        raise _unread(folder, "a TensorFlow SavedModel")


def not_an_artifact(path: Path, got: str, hint: str | None = None) -> UsageError:
    """The error for what is no artifact."""
    return _none(path, got, hint)


def _none(path: Path, got: str, hint: str | None) -> UsageError:
    allowed = "TorchScript, .pt2, or ONNX"
    return UsageError("this file is no artifact", where=str(path), allowed=allowed, got=got, hint=hint)


def _unread(path: Path, what: str) -> UsageError:
    formats = sorted({each for name in RUNTIMES for each in RUNTIMES.get(name).formats})
    return UsageError(f"this is {what}, and no runtime here reads it", where=str(path), allowed=", ".join(formats),
                      hint="parity targets lists the runtimes; a package may add another one")  # fmt: skip


def _is_safetensors(head: bytes) -> bool:
    return head[8:10] == b'{"' and head[7:8] == b"\0"


def _is_text(head: bytes) -> bool:
    """Whether the beginning is printable text; what protobuf writes is not, from its first byte on."""
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        text = head[: error.start].decode("utf-8")
        if error.start < len(head) - 4:  # more than a character that is cut off
            return False
    return all(character.isprintable() or character in "\r\n\t" for character in text)
