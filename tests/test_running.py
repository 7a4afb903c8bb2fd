"""A target that dies at what it should refuse keeps everything that it answered before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from parity.artifacts import Artifact, Manifest
from parity.errors import StorageError
from parity.gates.behaviour import judge_behaviour
from parity.models.signature import parse_signature
from parity.models.spec import Limits, ModelSpec
from parity.records import Symptom, Verdict
from parity.running import Running
from parity.samples.calls import Call
from parity.samples.excluded import Excluded
from parity.workers.process import Outcome
from parity.workers.run import AT_EXCLUDED, Ran, RunTask

REFUSED = (Excluded(Call("x0", (1, 1)), "x [2, 13]"), Excluded(Call("x1", (2, 2)), "x [2, 1]"))


@dataclass
class Scripted:
    """Children that do as they are told, one task after the other."""

    acts: list[Callable[[RunTask], tuple[Symptom, Any]]]
    tasks: list[RunTask] = field(default_factory=list)

    full: bool = False

    def check_room(self, _: Any = ()) -> None:
        if self.full:
            raise StorageError("the disk is full")

    def run(self, _: Any, task: RunTask, *, log: Path, timeout: float, also: Any = ()) -> Outcome:
        self.tasks.append(task)
        symptom, value = self.acts.pop(0)(task)
        return Outcome(symptom, timeout, log, value, message="" if value else "the worker was killed by SIGSEGV")


def answers(*ids: str) -> Callable[[RunTask], tuple[Symptom, Any]]:
    return lambda _: (Symptom.OK, Ran(opened=True, message="", failed={}, facts={}, answered=ids))


def dies(task: RunTask) -> tuple[Symptom, Any]:
    return Symptom.CRASH, None


def dies_at_excluded(task: RunTask) -> tuple[Symptom, Any]:
    task.folder.mkdir(parents=True)
    (task.folder / AT_EXCLUDED).write_text("x [2, 13]")
    return Symptom.CRASH, None


def attempt(
    folder: Path, *acts: Callable[[RunTask], tuple[Symptom, Any]], foreign: bool = False, full: bool = False
) -> tuple[Any, Scripted]:
    children = Scripted(list(acts), full=full)
    spec = ModelSpec("net", "net.py:Net", parse_signature("x: float32[N, 12]"), folder)
    running = Running(spec, folder, children, 5.0, 1, "cpu")  # type: ignore[arg-type]  # as much of one as is used
    artifact = Artifact(folder, Manifest("trace", "torchscript", "float", "model.ts.pt", foreign=foreign))
    task = running.task(artifact, "torchscript", (Call("h0", (0,)),), folder / "outputs")
    return running.attempt(task, REFUSED, folder / "run.log"), children


def test_what_the_model_refuses_is_asked_last_and_each_answer_is_a_finding(tmp_path: Path) -> None:
    made, children = attempt(tmp_path, answers("x1"))
    assert children.tasks[0].excluded == REFUSED
    assert [(each.name, each.detail) for each in made.behaviour] == [
        ("x [2, 13]", None), ("x [2, 1]", "answers an input that the model refuses")
    ]  # fmt: skip


def test_a_target_that_dies_there_is_run_again_without_it_and_that_is_said(tmp_path: Path) -> None:
    made, children = attempt(tmp_path, dies_at_excluded, answers())
    assert made.outcome.symptom is Symptom.OK
    assert [len(task.excluded) for task in children.tasks] == [2, 0]
    (found,) = made.behaviour
    assert found.name == "x [2, 13]"
    assert "killed by SIGSEGV" in str(found.detail)
    result = judge_behaviour(found, Limits(), quantized=False)
    assert result.verdict is None, "it has refused, if rudely"


@pytest.mark.parametrize("acts", [(dies,), (dies_at_excluded, dies)])
def test_a_target_that_dies_elsewhere_is_a_crash(tmp_path: Path, acts: tuple[Any, ...]) -> None:
    made, children = attempt(tmp_path, *acts)
    assert made.outcome.symptom is Symptom.CRASH
    assert not children.acts
    assert Verdict.FAIL not in [judge_behaviour(each, Limits(), quantized=False).verdict for each in made.behaviour]


def doubtful(_: RunTask) -> tuple[Symptom, Any]:
    return Symptom.OK, Ran(opened=True, message="", failed={}, facts={}, doubts={"inputs": "by position alone"})


def test_only_of_a_file_made_elsewhere_it_is_doubtful_which_input_is_which(tmp_path: Path) -> None:
    own, _ = attempt(tmp_path, doubtful)
    assert "matched" not in [each.kind for each in own.behaviour]
    foreign, _ = attempt(tmp_path, doubtful, foreign=True)
    assert [(each.name, each.detail) for each in foreign.behaviour if each.kind == "matched"] == [
        ("inputs", "by position alone")
    ]


def not_opened(_: RunTask) -> tuple[Symptom, Any]:
    return Symptom.OK, Ran(opened=False, message="cannot be read", failed={}, facts={})


def one_call_failed(_: RunTask) -> tuple[Symptom, Any]:
    return Symptom.OK, Ran(opened=True, message="", failed={"h0": "RuntimeError: compilation failed"}, facts={})


@pytest.mark.parametrize("act", [not_opened, one_call_failed])
def test_what_went_wrong_on_a_full_disk_is_no_result(tmp_path: Path, act: Any) -> None:
    made, _ = attempt(tmp_path, act)
    assert made.outcome.symptom is Symptom.OK, "there is room, so it is the target's"
    with pytest.raises(StorageError):
        attempt(tmp_path, act, full=True)
    made, _ = attempt(tmp_path, answers(), full=True)
    assert made.outcome.symptom is Symptom.OK, "it went well all the same"
