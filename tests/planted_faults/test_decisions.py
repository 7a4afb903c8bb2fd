"""What users act on: a fault in it is caught at the command line, and a harmless difference is not."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from parity.records import DecisionResult, Record, Stage, Symptom, Verdict
from tests.end_to_end.background import Background, background
from tests.end_to_end.command import Project
from tests.planted_faults import deciders

SEGMENTER, DETECTOR, EMBEDDER, RANKS = (
    ("Segmenter", ("SegmenterSwapped",), f"image: float32[N, 1, {deciders.SIDE}, {deciders.SIDE}]", "images.npy"),
    ("Detector", ("DetectorTurned", "DetectorMoved", "DetectorDrops"), "x: float32[12]", "few.npy"),
    ("Embedder", ("EmbedderLonger", "EmbedderTurned"), "x: float32[N, 12]", "many.npy"),
    ("Ranks", ("RanksTurned", "RanksWrong", "RanksDisordered"), "x: float32[N, 12]", "many.npy"),
)
EXAMPLES = {
    "Segmenter": torch.linspace(-1, 1, 2 * deciders.SIDE**2).reshape(2, 1, deciders.SIDE, deciders.SIDE),
    "Detector": torch.linspace(-2, 2, 12),
    "Embedder": torch.linspace(-1, 1, 24).reshape(2, 12),
    "Ranks": torch.linspace(-1, 1, 24).reshape(2, 12),
}
SETTINGS = """
[models.Embedder]
factory = "deciders.py:Embedder"
input = "x: float32[N, 12]"
samples = "many.npy"
decision = "embedding"
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("decided")
    shutil.copy(deciders.__file__, made / "deciders.py")
    rng = np.random.default_rng(0)
    np.save(made / "images.npy", rng.standard_normal((60, 1, deciders.SIDE, deciders.SIDE)).astype(np.float32))
    np.save(made / "few.npy", rng.standard_normal((40, 12)).astype(np.float32))
    np.save(made / "many.npy", rng.standard_normal((300, 12)).astype(np.float32))
    (made / "parity.toml").write_text(SETTINGS, encoding="utf-8")
    for name, others, _, _ in (SEGMENTER, DETECTOR, EMBEDDER, RANKS):
        for each in (name, *others):
            _trace(getattr(deciders, each)().eval(), EXAMPLES[name], made / f"{each}.ts.pt")
    return made


def _trace(module: nn.Module, example: torch.Tensor, path: Path) -> None:
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.trace(module, example, check_trace=False, strict=False), path)


@pytest.fixture(scope="session")
def decided(folder: Path) -> Iterator[Background]:
    """Every model with every artifact of it."""
    commands = {}
    for name, others, written, samples in (SEGMENTER, DETECTOR, EMBEDDER, RANKS):
        model = (name,) if name == "Embedder" else (f"deciders.py:{name}", "--input", written, "--samples", samples)
        artifacts = [word for each in (name, *others) for word in ("--artifact", f"{each}.ts.pt")]
        project = Project(folder, f".cache-{name}")
        commands[name] = partial(project.report, *model, *artifacts, out=f"report-{name}")
    with background(commands) as started:
        yield started


def record(decided: Background, name: str) -> Record:
    model = next(each for each in ("Segmenter", "Detector", "Embedder", "Ranks") if name.startswith(each))
    return decided[model].record(f"{name}.ts.pt")


def metric(found: Record, name: str) -> DecisionResult:
    return next(each for each in found.decisions if each.metric == name)


@pytest.mark.parametrize("name", ["Segmenter", "Detector", "Embedder", "Ranks"])
def test_the_same_function_passes(decided: Background, name: str) -> None:
    found = record(decided, name)
    assert (found.verdict, found.stage) == (Verdict.PASS, Stage.DONE), found
    assert not [each for each in found.decisions if each.flips]


def test_swapped_classes_of_a_segmenter_fail_in_pixels_and_in_overlap(decided: Background) -> None:
    found = record(decided, "SegmenterSwapped")
    assert (found.verdict, found.symptom) == (Verdict.FAIL, Symptom.MISMATCH)
    for name in ("pixel_agreement", "mean_iou"):
        assert metric(found, name).verdict is Verdict.FAIL


def test_detections_in_another_order_pass(decided: Background) -> None:
    found = record(decided, "DetectorTurned")
    assert found.verdict is Verdict.PASS, found
    assert {each.rule for each in found.numeric} == {"matched", "exact"}
    assert metric(found, "detection_agreement").value == 1.0
    (boxes, *_) = decided["Detector"].report.reference.outputs
    assert (boxes.decision, boxes.decision_from, boxes.batched) == ("detection", "names and shapes", False)


def test_a_box_that_is_moved_by_little_fails_and_is_named(decided: Background) -> None:
    found = record(decided, "DetectorMoved")
    assert found.verdict is Verdict.FAIL
    assert "boxes: error" in found.message
    assert "floors" in found.message
    assert metric(found, "detection_agreement").flips == 0


def test_a_box_that_is_dropped_fails_and_no_shape_is_to_blame(decided: Background) -> None:
    found = record(decided, "DetectorDrops")
    assert found.verdict is Verdict.FAIL
    assert "boxes are on one side only" in found.message
    assert not [each for each in found.numeric if each.rule == "shape"]
    assert metric(found, "detection_agreement").flips


def test_longer_vectors_are_another_function_with_the_same_decisions(decided: Background) -> None:
    found = record(decided, "EmbedderLonger")
    assert found.verdict is Verdict.FAIL
    assert {each.verdict for each in found.decisions if each.verdict} == {Verdict.PASS}
    assert metric(found, "cosine_mean").value == pytest.approx(1)


def test_turned_vectors_fail_in_their_direction(decided: Background) -> None:
    found = record(decided, "EmbedderTurned")
    assert metric(found, "cosine_mean").verdict is Verdict.FAIL
    assert "mean cosine similarity is" in " ".join(each.message or "" for each in found.decisions)
    assert decided["Embedder"].report.reference.outputs[0].decision_from == "given"


def test_equal_scores_in_another_order_pass_and_are_counted(decided: Background) -> None:
    found = record(decided, "RanksTurned")
    assert found.verdict is Verdict.PASS, found
    indices = next(each for each in found.numeric if each.output == "output_1")
    assert indices.ties
    assert indices.message == f"output_1: {indices.ties} values differ where the reference has no defined answer"


@pytest.mark.parametrize(("name", "output"), [("RanksWrong", "output_1"), ("RanksDisordered", "output_2")])
def test_a_wrong_index_fails(decided: Background, name: str, output: str) -> None:
    found = record(decided, name)
    assert found.verdict is Verdict.FAIL
    assert {each.output: each.verdict for each in found.numeric if each.verdict is not Verdict.PASS} == {
        output: Verdict.FAIL
    }
