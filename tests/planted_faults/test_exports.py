"""Models whose export goes wrong: the target that it concerns fails, and every other is still judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from parity.records import Stage, Symptom, Verdict
from tests.end_to_end.background import Background
from tests.end_to_end.command import Project
from tests.end_to_end.processes import running, wait_until
from tests.planted_faults import zoo
from tests.planted_faults.conftest import LEAVE_NOTHING, own_cache


def test_a_branch_on_the_input_that_tracing_bakes_in_is_caught(runs: Background) -> None:
    assert runs["branches"].status == 1
    record = runs["branches"].record("trace")
    assert (record.verdict, record.stage, record.symptom) == (Verdict.FAIL, Stage.COMPARE, Symptom.MISMATCH)
    assert "floors" in record.message


def test_a_failing_target_is_explained_by_the_line_that_its_exporter_trips_over(runs: Background) -> None:
    line = next(
        number for number, text in enumerate(Path(zoo.__file__).read_text().splitlines(), 1) if "x.mean() > 0.3" in text
    )
    for target, why in (("trace", "keeps the branch"), ("export", "cannot branch")):
        (told,) = runs["branches"].record(target).explanations
        assert told.startswith(f"likely because zoo.py:{line} reads a tensor's value into Python: ")
        assert why in told
        assert told in runs["branches"].text
    assert runs["branches"].record("script").explanations == ()
    (found,) = runs["branches"].report.reference.hazards
    assert (found.kind, found.where) == ("branch", f"zoo.py:{line}")
    page = (runs["branches"].out / "report.html").read_text(encoding="utf-8")
    assert f"zoo.py:{line}" in page
    assert f"zoo.py:{line}" in (runs["branches"].out / "report.md").read_text(encoding="utf-8")


def test_a_folded_batch_size_is_explained_by_the_line_that_reads_it(runs: Background) -> None:
    assert "size of a symbolic dimension" in runs["folds"].record("onnx-torchscript").explanations[0]


def test_a_hazard_fails_nothing(runs: Background) -> None:
    """TorchScript compiles the same lines, so its targets pass, and the model without any has no hazard."""
    for name in ("branches", "folds"):
        assert runs[name].report.reference.hazards
        assert runs[name].record("script").verdict is Verdict.PASS
    assert runs["no fault"].report.reference.hazards == ()
    assert "Hazards" not in runs["no fault"].text


def test_the_same_branch_passes_where_it_is_compiled(runs: Background) -> None:
    record = runs["branches"].record("script")
    assert (record.verdict, record.stage) == (Verdict.PASS, Stage.DONE), record


def test_an_exporter_that_refuses_the_branch_is_a_record_with_its_reason(runs: Background) -> None:
    record = runs["branches"].record("export")
    assert (record.verdict, record.stage, record.symptom) == (Verdict.FAIL, Stage.EXPORT, Symptom.EXCEPTION)
    assert "guard" in record.message.lower() or "data-dependent" in record.message.lower(), record.message
    assert record.log is not None
    assert Path(record.log).is_absolute() or (runs["branches"].out.parent / record.log).is_file()


def test_a_batch_size_that_an_exporter_folds_is_caught_and_each_size_says_so(runs: Background) -> None:
    assert runs["folds"].status == 1
    record = runs["folds"].record("onnx-torchscript")
    assert record.verdict is Verdict.FAIL
    assert (record.stage, record.symptom) in {
        (Stage.RUN, Symptom.EXCEPTION), (Stage.COMPARE, Symptom.MISMATCH)
    }, record  # fmt: skip
    verdicts = {shape.batch: shape.verdict for shape in record.shapes}
    assert verdicts[2] is Verdict.PASS, "the example's own batch size works"
    assert all(verdicts[batch] is Verdict.FAIL for batch in (1, 3, 8, 32)), verdicts
    assert all("Gemm" in (shape.message or "") for shape in record.shapes if shape.batch != 2), record.shapes


def test_a_worker_that_is_killed_while_it_exports_is_a_crash_with_the_signal_in_words(runs: Background) -> None:
    assert runs["killed"].status == 1
    for target in ("trace", "onnx-torchscript"):
        record = runs["killed"].record(target)
        assert (record.verdict, record.stage, record.symptom) == (Verdict.FAIL, Stage.EXPORT, Symptom.CRASH), record
        assert "SIGKILL" in record.message


def test_every_other_target_is_judged_beside_a_worker_that_is_killed(runs: Background) -> None:
    for target in ("script", "export"):
        assert runs["killed"].record(target).verdict is Verdict.PASS


def test_an_exporter_that_hangs_is_stopped_at_the_timeout(runs: Background) -> None:
    assert runs["hangs"].status == 1
    for target in ("trace", "onnx-torchscript"):
        record = runs["hangs"].record(target)
        assert (record.verdict, record.stage, record.symptom) == (Verdict.FAIL, Stage.EXPORT, Symptom.TIMEOUT), record
        assert "5 s" in record.message


def test_every_other_target_is_judged_beside_an_exporter_that_hangs(runs: Background) -> None:
    assert runs["hangs"].record("script").verdict is Verdict.PASS


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("name", LEAVE_NOTHING)
def test_no_process_is_left_behind(runs: Background, project: Project, name: str) -> None:
    assert runs[name].status == 1
    cache = Project(project.folder, own_cache(name)).cache
    assert wait_until(lambda: not running(cache), 10), running(cache)


@pytest.mark.parametrize("target", ["trace", "script", "onnx-torchscript", "export"])
def test_the_same_model_without_a_fault_passes_everywhere(runs: Background, target: str) -> None:
    assert runs["no fault"].status == 0, runs["no fault"].text
    record = runs["no fault"].record(target)
    assert (record.verdict, record.stage) == (Verdict.PASS, Stage.DONE), record
    assert all(shape.verdict is Verdict.PASS for shape in record.shapes)
