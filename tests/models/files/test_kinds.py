from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from parity.errors import ModelError
from parity.models.files.kinds import (
    CHECKPOINT,
    EXPORTED_PROGRAM,
    ONNX,
    SAFETENSORS,
    TORCHSCRIPT,
    check_checkpoint,
    file_kind,
)
from tests.models.files import made, strangers

Build = Callable[[Path], Path]

KINDS: dict[str, tuple[Build, str]] = {
    "state_dict": (made.state_dict, CHECKPOINT),
    "legacy": (made.legacy, CHECKPOINT),
    "whole module": (made.whole_module, CHECKPOINT),
    "plain pickle": (made.plain_pickle, CHECKPOINT),
    "oldest": (strangers.oldest, CHECKPOINT),
    "safetensors": (made.safetensors, SAFETENSORS),
    "torchscript": (made.torchscript, TORCHSCRIPT),
    "exported program": (made.exported_program, EXPORTED_PROGRAM),
    "onnx": (made.onnx, ONNX),
}


@pytest.mark.parametrize("suffix", ["", ".pt", ".onnx", ".safetensors", ".txt"])
@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_a_file_is_told_from_its_content_whatever_it_is_called(
    tmp_path: Path, name: str, suffix: str
) -> None:
    build, kind = KINDS[name]
    path = build(tmp_path)
    path = path.rename(tmp_path / f"renamed{suffix}")
    assert file_kind(path) == kind


def test_what_holds_weights_is_let_through_as_a_checkpoint_and_a_program_is_not(tmp_path: Path) -> None:
    for build in (made.state_dict, made.legacy, made.safetensors):
        check_checkpoint(build(tmp_path))
    for build in (made.torchscript, made.exported_program, made.onnx):
        with pytest.raises(ModelError, match="not a checkpoint") as caught:
            check_checkpoint(build(tmp_path))
        assert "--artifact" in str(caught.value.hint)


def _bytes(data: bytes) -> Build:
    return partial(strangers.written, name="given", data=data)


def _zip(*members: str) -> Build:
    return lambda folder: strangers.zipped(folder, "given", *members)


def _cut(build: Build, share: float = 0.5) -> Build:
    return lambda folder: strangers.cut(build(folder), "given", share)


def _damaged_names(folder: Path) -> Path:
    data = made.state_dict(folder).read_bytes()
    return strangers.written(folder, "given", data.replace(b"/byteorder", b"/byteorde\xff"))


REFUSED: dict[str, tuple[Build, tuple[str, ...]]] = {
    "missing": (lambda folder: folder / "nowhere.pt", ("no such model file", "parity models")),
    "empty": (_bytes(b""), ("is empty",)),
    "truncated zip": (_cut(made.state_dict), ("is truncated", "without its directory", "copy it again")),
    "a directory that is no text": (_damaged_names, ("the model file is damaged", "copy it again")),
    "truncated safetensors": (_cut(made.safetensors, 0.9), ("safetensors file is truncated", "bytes of")),
    "a header cut in two": (_cut(made.safetensors, 0.1), ("safetensors file is truncated", "a header of")),
    "a damaged header": (_bytes(b'\x06\0\0\0\0\0\0\0{"a": }'), ("safetensors file is damaged",)),
    "truncated onnx": (_cut(made.onnx), ("ONNX file is truncated",)),
    "text": (_bytes(b"weights: none\n"), ("is text, not a model", "'weights: none'")),
    "prose": (_bytes(b"The weights come\nfrom the other server\n"), ("is text, not a model",)),
    "text of another language": (_bytes(("Überraschung " * 1000).encode()), ("is text, not a model", "Überraschung")),
    "html": (_bytes(strangers.HTML), ("a web page was downloaded", "'Sign in'")),
    "an error of a store": (_bytes(b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>"),
                            ("a web page was downloaded", "'AccessDenied'")),
    "git-lfs": (_bytes(strangers.LFS), ("git-lfs pointer", "46,827,520 bytes", "git lfs pull")),
    "an index": (_bytes(b'{"weight_map": {"a": "model-00001-of-00002.safetensors"}}'),
                 ("several files", "--arch transformers:")),
    "source": (_bytes(b"from torch import nn\n\nclass Net(nn.Module): ...\n"), ("Python source", ":FACTORY")),
    "random bytes": (_bytes(strangers.RANDOM), ("this file is not a model", "2,001 bytes that begin with 17")),
    "a zip without a model": (_zip("readme.txt"), ("holds no model", "readme.txt")),
    "an empty zip": (_zip(), ("holds no model", "an empty archive")),
    "a zip around a model": (_zip("weights/net.pt"), ("zip archive around a model", "unzip", "weights/net.pt")),
    "a tar around a model": (strangers.tarred, ("a tar archive", "tar xf", "net.pt")),
    "gzip": (_bytes(strangers.GZIPPED), ("a gzip archive", "gunzip")),
    "npz": (strangers.arrays, ("a NumPy archive", "--samples")),
    "npy": (strangers.array, ("a NumPy array", "--samples")),
    "hdf5": (_bytes(b"\x89HDF\r\n\x1a\n" + bytes(16)), ("HDF5", "Keras")),
    "keras": (_zip("metadata.json", "config.json", "model.weights.h5"), ("a Keras model",)),
    "tflite": (_bytes(b"\x1c\0\0\0TFL3" + bytes(16)), ("TensorFlow Lite",)),
    "saved model file": (_bytes(b"\x08\x01\x12\x10...serve...\x00\x01"), ("SavedModel",)),
    "saved model": (strangers.saved_model, ("SavedModel", "PyTorch model")),
    "distributed": (strangers.distributed, ("torch.distributed", "dcp_to_torch")),
    "torch.package": (_zip("net/.data/extern_modules", "net/model/model.pkl"), ("torch.package",)),
    "aotinductor": (_zip("net/data/aotinductor/model/net.so"), ("AOTInductor",)),
    "openvino": (_bytes(b'<?xml version="1.0"?>\n<net name="Model0" version="11">'), ("OpenVINO",)),
    "tensorrt": (_bytes(b"ftrt" + bytes(16)), ("TensorRT",)),
    "joblib": (strangers.joblib, ("a joblib file",)),
    "image": (_bytes(b"\x89PNG\r\n\x1a\n" + bytes(16)), ("an image", "--samples FOLDER")),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_model_is_refused_with_what_it_is_and_what_to_do(tmp_path: Path, name: str) -> None:
    build, says = REFUSED[name]
    path = build(tmp_path)
    with pytest.raises(ModelError) as caught:
        file_kind(path)
    assert caught.value.where == str(path)
    assert caught.value.hint
    assert all(words in str(caught.value) for words in says), str(caught.value)


def test_a_folder_names_the_model_files_in_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="this is a folder") as caught:
        file_kind(tmp_path)
    assert str(caught.value.hint) == "name the model file in it"
    path = made.state_dict(tmp_path)
    with pytest.raises(ModelError) as caught:
        file_kind(tmp_path)
    assert str(path) in str(caught.value.hint)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError) as caught:
        file_kind(tmp_path)
    assert f"--arch transformers:{tmp_path}" in str(caught.value.hint)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is kept from being read by root")
def test_a_file_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    path = made.state_dict(tmp_path)
    path.chmod(0)
    with pytest.raises(ModelError, match="cannot be read"):
        file_kind(path)


def test_a_protobuf_of_another_message_is_no_onnx_file(tmp_path: Path) -> None:
    """A field of its own kind in the place of another: the name of a producer as a number."""
    data = made.onnx(tmp_path).read_bytes()
    assert data[:2] == b"\x08\x08", "ir_version comes first"
    for changed in (b"\x10\x08" + data[2:], data + b"\x78\x01", data[:2]):
        with pytest.raises(ModelError, match="not a model"):
            file_kind(strangers.written(tmp_path, "given.onnx", changed))


def test_an_address_is_not_looked_for_on_disk() -> None:
    for address in ("https://example.com/net.pt", "s3://bucket/net.pt"):
        with pytest.raises(ModelError, match="nothing is downloaded"):
            file_kind(Path(address))
    with pytest.raises(ModelError) as plain:
        file_kind(Path("nowhere.pt"))
    assert "downloaded" not in str(plain.value)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelError, match="a pipe or a device"):
        file_kind(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("held", "what"),
    [("adapter_config.json", "adapter"), ("model_index.json", "diffusers"), ("Manifest.json", "Core ML")],
)
def test_a_folder_of_another_library_is_told(tmp_path: Path, held: str, what: str) -> None:
    (tmp_path / held).write_text("{}")
    (tmp_path / "adapter_model.bin").write_bytes(b"PK")
    with pytest.raises(ModelError, match=what):
        file_kind(tmp_path)


def test_a_line_to_copy_is_quoted_where_a_shell_needs_it(tmp_path: Path) -> None:
    path = strangers.written(tmp_path, name="my net (1).gz", data=strangers.GZIPPED)
    with pytest.raises(ModelError) as caught:
        file_kind(path)
    assert f"gunzip '{path}'" in str(caught.value)
