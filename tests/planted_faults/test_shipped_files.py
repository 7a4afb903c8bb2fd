"""Files that a team's own script exported, through the command: each hazard is named, and hides no other file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from parity.records import Record, Stage, Symptom, Verdict
from tests.end_to_end.background import Background, background
from tests.end_to_end.command import Project, Ran
from tests.planted_faults import artifacts as made
from tests.planted_faults import shipped, zoo

X = ("--input", "x: float32[N, 12]")
PAIR = ("--input", "left: float32[N, 12]", "--input", "right: float32[N, 12]")
COMMANDS = {
    "one": ("net.pt", "--arch", "zoo.py:Classifier", *X, "--samples", "heldout.npz"),
    "two": ("zoo.py:TwoInputs", *PAIR, "--samples", "pairs.npz"),
}
FILES = {
    "one": ("healthy/net.onnx", "behind/left.onnx", "cut/cut.onnx", "over/older.onnx", "opset.onnx", "ir.onnx",
            "domain.onnx", "damaged.onnx", "scaled.onnx"),
    "two": ("named.onnx", "reordered.onnx", "renamed.onnx", "exchanged.onnx", "asks.onnx"),
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Background]:
    """One command for each model, with all of its files."""
    folder = tmp_path_factory.mktemp("shipped")
    shutil.copy(zoo.__file__, folder / "zoo.py")
    np.savez(folder / "heldout.npz", x=made.make_samples(200, seed=1))
    np.savez(folder / "pairs.npz", left=made.make_samples(200, seed=1), right=made.make_samples(200, seed=2))
    _one(folder)
    _two(folder)
    with background({name: partial(_run, folder, name) for name in COMMANDS}) as started:
        yield started


def _one(folder: Path) -> None:
    model, other = made.trained(zoo.Classifier()), zoo.Classifier().eval()
    torch.save(model.state_dict(), folder / "net.pt")
    shipped.save_beside(model, folder / "healthy" / "net.onnx")
    shipped.leave_behind(model, folder / "behind" / "left.onnx")
    shipped.cut_off(model, folder / "cut" / "cut.onnx")
    shipped.export_over(model, other, folder / "over" / "older.onnx")
    plain = made.save_onnx(model, folder / "plain.onnx")
    shipped.rewritten(plain, folder / "opset.onnx", opset=99)
    shipped.rewritten(plain, folder / "ir.onnx", ir=99)
    shipped.rewritten(plain, folder / "domain.onnx", domain="com.acme")
    shipped.damage(model, folder / "damaged.onnx")
    made.scale_weight(plain, folder / "scaled.onnx", 1.01)


def _two(folder: Path) -> None:
    model = zoo.TwoInputs().eval()
    shipped.save_pair(model, folder / "named.onnx", ("left", "right"))
    shipped.save_pair(model, folder / "reordered.onnx", ("right", "left"), swapped=True)
    shipped.save_pair(model, folder / "renamed.onnx", ("input.1", "input.2"))
    shipped.save_pair(model, folder / "exchanged.onnx", ("input.1", "input.2"), swapped=True)
    shipped.save_pair(model, folder / "asks.onnx", ("left", "right", "scale"))


def _run(folder: Path, name: str) -> Ran:
    files = [word for file in FILES[name] for word in ("--artifact", file)]
    return Project(folder, f".cache-{name}").report(*COMMANDS[name], *files, "--batch-sizes", "1,3", out=name)


def passed(record: Record) -> None:
    assert (record.verdict, record.stage, record.symptom) == (Verdict.PASS, Stage.DONE, Symptom.OK), record


def did_not_open(record: Record) -> str:
    """The message of a file that no runtime could open."""
    assert (record.verdict, record.stage, record.symptom) == (Verdict.FAIL, Stage.OPEN, Symptom.EXCEPTION), record
    return record.message


def test_a_file_with_its_weights_beside_it_passes_among_all_the_damaged_ones(runs: Background) -> None:
    assert runs["one"].status == 1, runs["one"].text
    passed(runs["one"].record("net.onnx"))


def test_every_file_of_an_artifact_is_listed_with_its_digest(runs: Background) -> None:
    export = runs["one"].record("net.onnx").export
    assert export is not None
    assert [each.name for each in export.files] == ["net.onnx", "net.onnx.data"]
    assert sum(each.bytes for each in export.files) == export.bytes
    assert all(len(each.sha256) == 64 for each in export.files)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("left.onnx", "external data is missing: there is no left.onnx.data beside it"),
        ("cut.onnx", "external data cut.onnx.data is not what it was saved with"),
        ("opset.onnx", "opset of ai.onnx 99 (known up to"),
        ("ir.onnx", "IR version 99 (known up to"),
        ("domain.onnx", "no implementation of com.acme::Relu"),
        ("damaged.onnx", "damaged or cut off"),
    ],
)
def test_a_file_that_cannot_be_opened_is_a_record_that_says_why(runs: Background, file: str, said: str) -> None:
    assert said in did_not_open(runs["one"].record(file))


def test_an_older_graph_that_reads_newer_weights_is_told_by_them(runs: Background) -> None:
    record = runs["one"].record("older.onnx")
    assert (record.verdict, record.symptom) == (Verdict.FAIL, Symptom.MISMATCH), record
    assert "weights that carry the model's parameter names hold other numbers" in record.explanations[0]
    assert record.explanations[0].endswith("or its external data is another export's")
    assert record.explanations[0] in runs["one"].text.replace("\n", " ")


def test_one_scaled_matrix_is_not_taken_for_another_checkpoint(runs: Background) -> None:
    record = runs["one"].record("scaled.onnx")
    assert (record.verdict, record.symptom) == (Verdict.FAIL, Symptom.MISMATCH), record
    assert record.explanations == ()


def test_inputs_are_fed_by_name_in_any_order(runs: Background) -> None:
    assert runs["two"].status == 1, runs["two"].text
    for file in ("named.onnx", "reordered.onnx"):
        record = runs["two"].record(file)
        passed(record)
        assert "inputs" not in (record.runtime or {})


def test_inputs_of_other_names_that_agree_pass_with_a_remark(runs: Background) -> None:
    record = runs["two"].record("renamed.onnx")
    passed(record)
    assert (record.runtime or {})["inputs"] == "matched by position: input.1 is left, input.2 is right"
    (doubt,) = (each for each in record.behaviour if each.kind == "matched")
    assert doubt.verdict is None
    assert str(doubt.message) in " ".join(runs["two"].stdout.split())
    assert str(doubt.message) in (runs["two"].out / "report.md").read_text().replace("\\", "")


def test_a_failure_of_inputs_of_other_names_says_that_they_may_be_exchanged(runs: Background) -> None:
    record = runs["two"].record("exchanged.onnx")
    assert (record.verdict, record.symptom) == (Verdict.FAIL, Symptom.MISMATCH), record
    assert "floors" in record.message
    assert record.message.endswith(
        "the inputs 'input.1', 'input.2' were taken for 'left', 'right' by position alone: neither names nor shapes "
        "tell them apart"
    )


def test_an_input_that_the_model_is_not_given_is_named(runs: Background) -> None:
    message = did_not_open(runs["two"].record("asks.onnx"))
    assert "it asks for scale: float32" in message
    assert "next:" in message
