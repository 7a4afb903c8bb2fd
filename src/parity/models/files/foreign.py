"""Files that are given as a model and are none: what each is, and what its owner may do."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from pathlib import Path

from parity.errors import ModelError
from parity.models.wording import listed, typed

ALLOWED = "a checkpoint of torch.save, safetensors, a TorchScript archive, or a .pt2 ExportedProgram"

_SIGNATURES: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"\x93NUMPY", "a NumPy array", "arrays are samples: parity report MODEL --samples {path}"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file, such as Keras saves", "give the PyTorch model that it was converted from"),
    (4, b"TFL3", "a TensorFlow Lite model", "parity judges exports of PyTorch models; give the PyTorch model"),
    (4, b"ORTM", "a model in ONNX Runtime's own format", "give the ONNX file that it was made from as --artifact"),
    (0, b"ftrt", "a TensorRT engine", "give the PyTorch model that it was built from"),
    (4, b"ET12", "an ExecuTorch program", "give the PyTorch model that it was lowered from"),
    (0, b"GGUF", "a GGUF model of llama.cpp", "give the PyTorch model that it was converted from"),
    (0, b"7767517", "an ncnn model", "give the PyTorch model that it was converted from"),
    (0, b"\x7fELF", "a compiled library", "give the PyTorch model that it was compiled from"),
    (0, b"\x1f\x8b", "a gzip archive", "unpack it first: gunzip {path}"),
    (0, b"BZh", "a bzip2 archive", "unpack it first: bunzip2 {path}"),
    (0, b"\xfd7zXZ\0", "an xz archive", "unpack it first: unxz {path}"),
    (0, b"\x28\xb5\x2f\xfd", "a zstandard archive", "unpack it first: unzstd {path}"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it first: 7z x {path}"),
    (0, b"Rar!\x1a\x07", "a RAR archive", "unpack it first: unrar x {path}"),
    (0, b"\x89PNG\r\n\x1a\n", "an image", "images are samples: parity report MODEL --samples FOLDER"),
    (0, b"\xff\xd8\xff", "an image", "images are samples: parity report MODEL --samples FOLDER"),
    (0, b"%PDF-", "a PDF document", "check the path"),
)  # fmt: skip
"""Offset, bytes at it, what such a file is, and what to do."""

_SAVED_MODEL = re.compile(rb"\x08[\x01-\x7f]\x12")
"""How a TensorFlow SavedModel begins: its schema version (field 1) and a graph (field 2)."""

_TEXTS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"<net "), "an OpenVINO model", "give the PyTorch model that it was converted from"),
    (re.compile(r'"weight_map"'), "the index of a model that lies in several files",
     "give their folder: --arch transformers:{folder}"),
    (re.compile(r"^(import [\w.]+$|from [\w.]+ import |class \w+.*:|def \w+\()", re.MULTILINE), "Python source",
     "name the factory in it: parity report {path}:FACTORY"),
)  # fmt: skip
"""What a text has in it, what it is, and what to do."""

_SHOWN = 60
_TEXT = frozenset(range(0x20, 0x7F)) | frozenset(b"\t\n\r\f\b") | frozenset(range(0x80, 0x100))


def other_runtime(head: bytes) -> str | None:
    """What a file is that begins with these bytes, where that is a model of another runtime."""
    found = (what for offset, signature, what, hint in _SIGNATURES if _begins(head, offset, signature) and _made(hint))
    text = (what for pattern, what, hint in _TEXTS if _made(hint) and pattern.search(head.decode("latin-1")))
    return next(found, None) or next(text, None)


def _begins(head: bytes, offset: int, signature: bytes) -> bool:
    return head[offset : offset + len(signature)] == signature


def _made(hint: str) -> bool:
    """Whether the way on is the PyTorch model that a file was made from."""
    return "PyTorch" in hint


def foreign_file(path: Path, head: bytes) -> ModelError | None:
    """What to say of a file that begins with these bytes, or None where they are not known."""
    for offset, signature, what, hint in _SIGNATURES:
        if _begins(head, offset, signature):
            return (_of_others if _made(hint) else _not_a_model)(path, what, hint.format(path=typed(path)))
    if _SAVED_MODEL.match(head) and (b"serve" in head or b"tensorflow" in head.lower()):
        return _of_others(path, "a TensorFlow SavedModel", "give the PyTorch model that it was converted from")
    if all(byte in _TEXT for byte in head):
        return _text(path, head)
    return None


def _not_a_model(path: Path, what: str, hint: str, got: str | None = None, wanted: str = "a model") -> ModelError:
    return ModelError(f"this file is {what}, not {wanted}", where=str(path), allowed=ALLOWED, got=got, hint=hint)


def _of_others(path: Path, what: str, hint: str) -> ModelError:
    return _not_a_model(path, what, hint, wanted="a PyTorch model")


def _text(path: Path, head: bytes) -> ModelError | None:
    try:
        # A decoder for pieces: the last letter may be cut in two where the head ends.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head).strip()
    except UnicodeDecodeError:
        return None
    lower = text[:1000].lower()
    if text.startswith("version https://git-lfs"):
        size = re.search(r"^size (\d+)$", text, re.MULTILINE)
        got = f"a note that the model has {int(size[1]):,} bytes" if size else "a note in place of the model"
        return _not_a_model(path, "a git-lfs pointer", "git lfs pull", got, "the model itself")
    if "<html" in lower or "<!doctype html" in lower or (lower.startswith("<?xml") and "<error>" in lower):
        title = re.search(r"<(title|code|message)>(.*?)</\1>", text, re.IGNORECASE | re.DOTALL)
        return ModelError(
            "a web page was downloaded instead of the model",
            where=str(path),
            allowed=ALLOWED,
            got=f"a page titled {title[2].strip()[:_SHOWN]!r}" if title else "a page without a title",
            hint="download the file itself: the link may need a login, or end in /raw/ or /resolve/ instead of /blob/",
        )
    for pattern, what, hint in _TEXTS:
        if pattern.search(text):
            said = hint.format(path=typed(path), folder=typed(path.parent))
            return (_of_others if "PyTorch" in hint else _not_a_model)(path, what, said)
    line = text.splitlines()[0][:_SHOWN] if text else ""
    return _not_a_model(path, "text", "check the path, or copy the file again", f"{line!r}" if line else "blank lines")


def foreign_archive(path: Path, names: Sequence[str]) -> ModelError:
    """What to say of a zip archive that is none of torch's."""
    arrays = [name for name in names if name.endswith(".npy")]
    models = [name for name in names if name.endswith((".pt", ".pth", ".safetensors", ".onnx", ".pt2", ".bin"))]
    if names and len(arrays) == len(names):
        return _not_a_model(path, "a NumPy archive", f"arrays are samples: parity report MODEL --samples {typed(path)}",
                            listed(arrays))  # fmt: skip
    if "metadata.json" in names and any(name.endswith(".weights.h5") for name in names):
        return _of_others(path, "a Keras model", "give the PyTorch model that it was converted from")
    if any("extern_modules" in name for name in names):
        return _not_a_model(path, "a torch.package archive",
                            "load it with torch.package and save model.state_dict()")  # fmt: skip
    if any("aotinductor" in name for name in names):
        return _not_a_model(path, "an AOTInductor package", "give the PyTorch model that it was compiled from")
    if models:
        return _not_a_model(path, "a zip archive around a model", f"unpack it first: unzip {typed(path)}",
                            listed(models), "the model itself")  # fmt: skip
    return ModelError(
        "this file is a zip archive that holds no model",
        where=str(path),
        allowed=ALLOWED,
        got=listed(names) or "an empty archive",
        hint="check the path, or save the model again with torch.save",
    )


def foreign_tar(path: Path, names: Sequence[str]) -> ModelError:
    """What to say of a tar archive that torch did not write."""
    return _not_a_model(
        path, "a tar archive", f"unpack it first: tar xf {typed(path)}", listed(names) or "nothing in it"
    )


def foreign_pickle(path: Path, what: str) -> ModelError:
    """What to say of a pickle that is none of torch's."""
    return _of_others(path, what, "parity judges exports of PyTorch models")


def foreign_folder(path: Path) -> ModelError:
    """What to say of a folder that is given as a model."""
    held = {entry.name for entry in path.iterdir()}
    hint = "name the model file in it"
    what = "a folder"
    if "saved_model.pb" in held:
        what, hint = "a TensorFlow SavedModel", "give the PyTorch model that it was converted from"
    elif ".metadata" in held and any(name.endswith(".distcp") for name in held):
        what = "a checkpoint of torch.distributed in several files"
        hint = f"python -m torch.distributed.checkpoint.format_utils dcp_to_torch {typed(path)} model.pt"
    elif "adapter_config.json" in held:
        what, hint = "the folder of an adapter (PEFT)", "save the model that model.merge_and_unload() returns"
    elif "model_index.json" in held:
        what, hint = (
            "a pipeline of diffusers",
            "give one of its models, by a factory of your own: package.module:factory",
        )
    elif "Manifest.json" in held:
        what, hint = "a Core ML package", "give the PyTorch model that it was converted from"
    elif "config.json" in held:
        what, hint = (
            "a folder with a configuration",
            f"for a transformers model: --arch {typed(Path(f'transformers:{path}'))}",
        )
    elif found := sorted(name for name in held if name.endswith((".pt", ".pth", ".safetensors", ".pt2", ".bin"))):
        hint = f"name the model file in it, such as {typed(path / found[0])}"
    return ModelError(f"this is {what}, not a model file", where=str(path), allowed=ALLOWED, hint=hint)
