"""The projects with faults in them, and every command that judges one, run once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.end_to_end.background import Background, background
from tests.end_to_end.command import Project, Ran
from tests.planted_faults import artifacts as made
from tests.planted_faults import zoo

INPUT = ("--input", "x: float32[N, 12]")
SAMPLES = (*INPUT, "--samples", "heldout.npz")
LENGTHS = ("--input", "x: float32[N in 1..32, T in 1..16]", "--samples", "heldout.npz")
CLASSIFIER = ("net.pt", "--arch", "zoo.py:Classifier", *SAMPLES)
TRACERS = ("--target", "trace", "--target", "script", "--target", "onnx-torchscript")


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A checkpoint, its module, held-out samples, and artifacts that were made elsewhere."""
    folder = tmp_path_factory.mktemp("planted")
    shutil.copy(zoo.__file__, folder / "zoo.py")
    np.savez(folder / "heldout.npz", x=made.make_samples(600, seed=1))
    np.savez(folder / "few.npz", x=made.make_samples(20, seed=1))
    _make_classifiers(folder)
    _make_pairs(folder)
    return Project(folder)


def _make_classifiers(folder: Path) -> None:
    model = made.trained(zoo.Classifier())
    torch.save(model.state_dict(), folder / "net.pt")
    made.save_onnx(model, folder / "healthy.onnx")
    made.save_traced(model, folder / "healthy.ts.pt")
    made.save_onnx(model, folder / "static.onnx", batch=None)
    made.save_onnx(model, folder / "other-name.onnx", batch="batch_size")
    counting = zoo.Counts().eval()
    counting.load_state_dict(model.state_dict())
    made.save_scripted(counting, folder / "counts.ts.pt")
    made.scale_weight(folder / "healthy.onnx", folder / "weight.onnx", 1.01)
    made.quantize(folder / "healthy.onnx", folder / "healthy-int8.onnx")
    made.wreck_scale(folder / "healthy-int8.onnx", folder / "wrecked-int8.onnx")
    made.scale_weight(folder / "healthy.onnx", folder / "scaled.onnx", 1.5)
    made.halve(folder / "healthy.onnx", folder / "half-inside.onnx", keep_io=True)
    made.halve(folder / "healthy.onnx", folder / "half.onnx", keep_io=False)
    made.halve(folder / "scaled.onnx", folder / "half-scaled.onnx", keep_io=True)
    scaled = zoo.Classifier().eval()
    scaled.load_state_dict(model.state_dict())
    with torch.no_grad():
        scaled.stem.weight *= 1.01
    made.save_traced(scaled, folder / "weight.ts.pt")
    epsilon = zoo.Classifier(eps=0.1).eval()
    epsilon.load_state_dict(model.state_dict())
    made.save_onnx(epsilon, folder / "epsilon.onnx")
    made.save_traced(epsilon, folder / "epsilon.ts.pt")
    made.save_traced(model.train(), folder / "dropout.ts.pt")
    made.save_onnx(model, folder / "dropout.onnx", training=True)


def _make_pairs(folder: Path) -> None:
    faults: dict[str, type[torch.nn.Module]] = {
        "healthy-pair": zoo.Pair, "swapped": zoo.PairSwapped, "narrowed": zoo.PairNarrowed,
        "not-a-number": zoo.PairNotANumber, "missing": zoo.PairMissing, "off-by-one": zoo.PairOffByOne,
    }  # fmt: skip
    faults |= {"cancels-less": zoo.CancelsLess, "cancels-wrongly": zoo.CancelsWrongly}
    faults |= {"halved": zoo.Halved, "halved-widened": zoo.HalvedWidened, "selects-fewer": zoo.SelectsFewer}
    made.save_onnx(zoo.Named().eval(), folder / "named.onnx", outputs=("left", "right"))
    made.save_onnx(zoo.Named().eval(), folder / "mislabelled.onnx", outputs=("right", "left"))
    for name, kind in faults.items():
        made.save_traced(kind().eval(), folder / f"{name}.ts.pt")


def _artifacts(*names: str) -> tuple[str, ...]:
    return tuple(word for name in names for word in ("--artifact", name))


COMMANDS: dict[str, tuple[str, ...]] = {
    "faulty": (*CLASSIFIER, *_artifacts("weight.onnx", "weight.ts.pt", "epsilon.onnx", "epsilon.ts.pt", "dropout.onnx",
                                        "dropout.ts.pt", "wrecked-int8.onnx")),
    "healthy": (*CLASSIFIER, *_artifacts("healthy.onnx", "healthy.ts.pt", "healthy-int8.onnx")),
    "halves": (*CLASSIFIER, *_artifacts("half-inside.onnx", "half.onnx", "half-scaled.onnx")),
    "faulty pairs": ("zoo.py:Pair", *SAMPLES, *_artifacts("swapped.ts.pt", "narrowed.ts.pt", "not-a-number.ts.pt",
                                                          "missing.ts.pt", "off-by-one.ts.pt")),
    "healthy pair": ("zoo.py:Pair", *SAMPLES, *_artifacts("healthy-pair.ts.pt")),
    "named": ("zoo.py:Named", *SAMPLES, "--target", "trace", *_artifacts("named.onnx", "mislabelled.onnx")),
    "halved": ("zoo.py:Halved", *SAMPLES, *_artifacts("halved.ts.pt", "halved-widened.ts.pt")),
    "selects": ("zoo.py:Selects", *SAMPLES, "--target", "trace", *_artifacts("selects-fewer.ts.pt")),
    "hangs": ("zoo.py:Hangs", *SAMPLES, "--timeout", "5", *TRACERS),
    "killed": ("zoo.py:Killed", *SAMPLES, *TRACERS, "--target", "export"),
    "branches": ("zoo.py:Branches", *SAMPLES, "--target", "trace", "--target", "script", "--target", "export"),
    "folds": ("zoo.py:FoldsBatch", *SAMPLES, *TRACERS),
    "folds length": ("zoo.py:FoldsLength", *LENGTHS, "--target", "trace", "--target", "script"),
    "needs two": ("zoo.py:NeedsTwo", *LENGTHS, "--target", "script", "--batch-sizes", "1,2,64"),
    "static": (*CLASSIFIER, *_artifacts("static.onnx", "other-name.onnx", "counts.ts.pt")),
    "mixes": ("zoo.py:Centred", *SAMPLES, "--target", "trace"),
    "checks": ("zoo.py:Checks", *SAMPLES, "--target", "trace", "--target", "script"),
    "no fault": ("zoo.py:Classifier", *SAMPLES, *TRACERS, "--target", "export"),
    "few": ("net.pt", "--arch", "zoo.py:Classifier", *INPUT, "--samples", "few.npz", *_artifacts("healthy-int8.onnx")),
    "random": ("zoo.py:Random", *SAMPLES, "--target", "script"),
    "cancels": ("zoo.py:Cancels", *SAMPLES, *_artifacts("cancels-less.ts.pt", "cancels-wrongly.ts.pt"),
                "--target", "trace"),
    "constant": ("zoo.py:Constant", *SAMPLES, "--target", "trace"),
    "nothing to quantize": ("zoo.py:Filter", *SAMPLES, "--target", "trace", "--target", "int8-dynamic"),
}  # fmt: skip

LEAVE_NOTHING = ("hangs", "killed")
"""What these start is looked for by the environment that it was started with, which a fork keeps from its parent."""


@pytest.fixture(scope="session")
def runs(project: Project) -> Iterator[Background]:
    """Every command above."""
    with background({name: partial(_run, project, name) for name in COMMANDS}) as started:
        yield started


def _run(project: Project, name: str) -> Ran:
    plain = name.replace(" ", "-")
    fresh = project.fresh or name in LEAVE_NOTHING
    return Project(project.folder, own_cache(name), fresh).report(*COMMANDS[name], out=plain)


def own_cache(name: str) -> str:
    """The cache of one command, by which its processes are told from those of the others."""
    return f".cache-{name.replace(' ', '-')}"
