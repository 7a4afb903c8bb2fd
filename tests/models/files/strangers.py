"""Files that are no model, or no whole one: made by what writes them where that is here, else by their first bytes."""

from __future__ import annotations

import gzip
import importlib
import io
import pickle
import tarfile
import zipfile
from pathlib import Path

import numpy as np

from tests.models.files.made import state_dict

GZIPPED = gzip.compress(b"weights", mtime=0)
HTML = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>...</body></html>\n"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 46827520\n"
RANDOM = b"\x17" + np.random.default_rng(1).bytes(2000)
PICKLE_LIKE = b"\x80\x02" + np.random.default_rng(1).bytes(2000)


def joblib(folder: Path) -> Path:
    """`joblib.dump` of an array."""
    path = folder / "net.joblib"
    importlib.import_module("joblib").dump({"coefficients": np.zeros(3)}, path)
    return path


def oldest(folder: Path) -> Path:
    """The tar archive of torch 0.1, by its members."""
    path = folder / "oldest.pt"
    with tarfile.open(path, "w") as archive:
        for name in ("sys_info", "pickle", "storages", "tensors"):
            data = pickle.dumps({"little_endian": True})
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def cut(whole: Path, name: str, share: float = 0.5) -> Path:
    """The first part of a file."""
    data = whole.read_bytes()
    path = whole.with_name(name)
    path.write_bytes(data[: int(len(data) * share)])
    return path


def written(folder: Path, name: str, data: bytes) -> Path:
    """A file of these bytes."""
    path = folder / name
    path.write_bytes(data)
    return path


def zipped(folder: Path, name: str, *members: str) -> Path:
    """A zip archive with empty members of these names."""
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for member in members:
            archive.writestr(member, "")
    return path


def tarred(folder: Path) -> Path:
    """`tar cf`, of a checkpoint."""
    path = folder / "packed.pth.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(state_dict(folder), "net.pt")
    return path


def arrays(folder: Path) -> Path:
    """`numpy.savez`."""
    np.savez(folder / "arrays.npz", x=np.zeros((2, 6), np.float32))
    return folder / "arrays.npz"


def array(folder: Path) -> Path:
    """`numpy.save`."""
    np.save(folder / "array.npy", np.zeros((2, 6), np.float32))
    return folder / "array.npy"


def saved_model(folder: Path) -> Path:
    """The folder of a TensorFlow SavedModel."""
    path = folder / "saved_model"
    path.mkdir(exist_ok=True)
    (path / "saved_model.pb").write_bytes(b"\x08\x01\x12\x00")
    return path


def distributed(folder: Path) -> Path:
    """The folder that `torch.distributed.checkpoint` writes."""
    path = folder / "distributed"
    path.mkdir(exist_ok=True)
    for name in (".metadata", "__0_0.distcp"):
        (path / name).touch()
    return path
