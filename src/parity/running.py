"""One artifact run at one runtime in a child process, and run once more where it died at what it should refuse."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from parity.artifacts import MODULE, Artifact
from parity.models.matching import MATCHED
from parity.models.spec import ModelSpec
from parity.records import BehaviourFinding, OutputFacts, ReferenceFacts, Symptom
from parity.samples.calls import Call
from parity.samples.excluded import Excluded
from parity.storage import Place
from parity.workers.process import Children, Outcome
from parity.workers.run import AT_EXCLUDED, Ran, RunTask, run

EXCLUDED_SHAPE, DIED_AT_EXCLUDED = "excluded_shape", "died_at_excluded_shape"


@dataclass(frozen=True)
class Attempt:
    """How a run ended, and what became of the calls that the model refuses."""

    outcome: Outcome
    behaviour: tuple[BehaviourFinding, ...]


@dataclass(frozen=True)
class Running:
    """Where runs of one model take place.

    Attributes:
        spec: The model.
        samples: The folder of the stored samples.
        children: Starts the child processes.
        timeout: Seconds after which a run is stopped.
        threads: Intra-op threads.
        device: What targets run on.
    """

    spec: ModelSpec
    samples: Path
    children: Children
    timeout: float
    threads: int
    device: str

    def task(
        self, artifact: Artifact, runtime: str, calls: Sequence[Call], folder: Path, outputs: Sequence[OutputFacts] = ()
    ) -> RunTask:
        """A run of every call, without those that the model refuses."""
        return RunTask(
            artifact=artifact,
            runtime=runtime,
            spec=self.spec,
            samples=self.samples,
            calls=tuple(calls),
            folder=folder,
            threads=self.threads,
            device=self.device,
            outputs=tuple(outputs),
        )

    def attempt(self, task: RunTask, refused: Sequence[Excluded], log: Path) -> Attempt:
        """Run every call, and then those that the model refuses.

        A target that dies at one of these has refused it rudely: it is run again without them.
        """
        plain, task, folder = task, replace(task, excluded=tuple(refused)), task.folder
        outcome = self._run(task, log)
        marker = folder / AT_EXCLUDED
        if outcome.symptom not in (Symptom.CRASH, Symptom.TIMEOUT) or not marker.exists():
            return Attempt(outcome, _judged(task.artifact, outcome, refused))
        name = marker.read_text()
        found = BehaviourFinding(kind=DIED_AT_EXCLUDED, name=name, detail=f"{outcome.message}, at an input to refuse")
        shutil.rmtree(folder)
        again = self._run(plain, log)
        return Attempt(again, (found, *_judged(task.artifact, again, ())))

    def _run(self, task: RunTask, log: Path) -> Outcome:
        """Run a task; raises StorageError where it went wrong in any way and there is no room to write."""
        also = compiled_places(task.artifact)
        outcome = self.children.run(run, task, log=log, timeout=self.timeout, also=also)
        if outcome.symptom is Symptom.OK and (not outcome.value.opened or outcome.value.failed):
            self.children.check_room(also)
        return outcome


def compiled_places(artifact: Artifact) -> tuple[Place, ...]:
    """Where a session of this artifact writes what it compiles; nowhere for one that was compiled when it was made."""
    if artifact.scratch is None or artifact.manifest.format != MODULE:
        return ()
    return (Place(artifact.scratch, "the cache", "choose another cache with PARITY_CACHE=DIR"),)


def _doubts(artifact: Artifact, ran: Ran) -> Iterable[tuple[str, str]]:
    """An export of our own has its inputs and outputs in the order of the model's; only of others there is doubt."""
    return ran.doubts.items() if artifact.manifest.foreign else ()


def _judged(artifact: Artifact, outcome: Outcome, refused: Sequence[Excluded]) -> tuple[BehaviourFinding, ...]:
    if outcome.symptom is not Symptom.OK:
        return ()
    ran: Ran = outcome.value
    detail = "answers an input that the model refuses"
    doubts = tuple(BehaviourFinding(kind=MATCHED, name=what, detail=text) for what, text in _doubts(artifact, ran))
    return doubts + tuple(
        BehaviourFinding(kind=EXCLUDED_SHAPE, name=each.name, detail=detail if each.call.id in ran.answered else None)
        for each in (refused if ran.opened else ())
    )


def with_outputs(artifact: Artifact, facts: ReferenceFacts) -> Artifact:
    """A file made elsewhere may call its outputs anything; the model's own names go with it, in order."""
    if artifact.manifest.outputs:
        return artifact
    names = tuple(output.name for output in facts.outputs)
    return replace(artifact, manifest=replace(artifact.manifest, outputs=names))
