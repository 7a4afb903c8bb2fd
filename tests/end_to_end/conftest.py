"""A small project: one module, its checkpoint, samples, and every kind of file that is none of these."""

from __future__ import annotations

import pickle
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from parity.models.refs import load_file
from tests.end_to_end.background import Background, background
from tests.end_to_end.bad_requests import BAD_REQUESTS
from tests.end_to_end.command import Project
from tests.models.files.made import NET

MODEL = f"""{NET}

def raises():
    raise RuntimeError("no weights on this machine")


def returns_none():
    return None
"""

SETTINGS = """
[models.tiny]
factory = "model.py:Net"
input = "x: float32[N, 6]"
samples = "heldout.npz"
targets = ["trace", "script"]
"""


class RunsCode:
    """Pickled, it makes a file as soon as it is read."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.marker,)


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project, healthy files and others."""
    folder = tmp_path_factory.mktemp("end-to-end")
    (folder / "model.py").write_text(MODEL)
    (folder / "parity.toml").write_text(SETTINGS)
    _samples(folder)
    _checkpoints(folder)
    (folder / "unknown-key").mkdir()
    (folder / "unknown-key" / "parity.toml").write_text("[limits]\nratoi = 5\n")
    (folder / "bad-toml").mkdir()
    (folder / "bad-toml" / "parity.toml").write_text("[limits\nratio = 5\n")
    (folder / "taken").write_text("a file, where --out should be a folder")
    (folder / "damaged.json").write_text('{"schema": "parity-report/1", "records": [')
    (folder / "incomplete.json").write_text('{"schema": "parity-report/1", "records": []}')
    return Project(folder)


def _samples(folder: Path) -> None:
    rng = np.random.default_rng(0)
    held_out = rng.standard_normal((40, 6)).astype(np.float32)
    other = rng.standard_normal((16, 6)).astype(np.float32)
    np.savez(folder / "heldout.npz", x=held_out)
    np.savez(folder / "overlap.npz", x=np.concatenate([other, held_out[4:7]]))
    np.savez(folder / "shape.npz", x=np.zeros((4, 7), np.float32))
    np.savez(folder / "rank.npz", x=np.zeros((4, 6, 1), np.float32))
    np.savez(folder / "dtype.npz", x=np.zeros((4, 6), np.float64))
    np.savez(folder / "name.npz", a=held_out, b=held_out)
    np.savez(folder / "none.npz", x=held_out[:0])
    (folder / "damaged.npz").write_bytes((folder / "heldout.npz").read_bytes()[:300])


def _checkpoints(folder: Path) -> None:
    module = load_file(folder / "model.py", folder).Net().eval()
    torch.save(module.state_dict(), folder / "net.pt")
    state = module.state_dict()
    state["heat.weight"] = state.pop("head.weight")
    state["hidden.bias"] = torch.zeros(9)
    torch.save(state, folder / "other-keys.pt")
    (folder / "truncated.pt").write_bytes((folder / "net.pt").read_bytes()[:-200])
    (folder / "empty.pt").touch()
    (folder / "text.pt").write_text("weights: none\n")
    (folder / "random.pt").write_bytes(b"\x17" + np.random.default_rng(1).bytes(2000))
    (folder / "pickle-like.pt").write_bytes(b"\x80\x02" + np.random.default_rng(1).bytes(2000))
    with zipfile.ZipFile(folder / "archive.pt", "w") as archive:
        archive.writestr("readme.txt", "no model")
    torch.save({"state_dict": RunsCode(folder / "marker")}, folder / "runs-code.pt")
    (folder / "runs-code-too.pt").write_bytes(pickle.dumps(RunsCode(folder / "marker"), protocol=2))
    example = (torch.zeros(2, 6),)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.trace(module, example), folder / "scripted.pt")
        torch.export.save(torch.export.export(module, example), folder / "program.pt2")
        torch.onnx.export(
            module, example, str(folder / "model.onnx"), dynamo=False, input_names=["x"],
            dynamic_axes={"x": {0: "N"}}, opset_version=17,
        )  # fmt: skip


@pytest.fixture(scope="session")
def bad(project: Project) -> Iterator[Background]:
    """Every bad request, run once."""
    with background({each.name: each.command(project) for each in BAD_REQUESTS}) as started:
        yield started
