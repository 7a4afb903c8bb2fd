"""One model on the bench: each stage is done once, in a child process, when somebody asks for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from parity.arrays import ArrayReader
from parity.artifacts import REDUCED, Artifact
from parity.cache import ArtifactCache
from parity.cells import Cell, Reference, judge_cell
from parity.compare.behaviour import mixed_outputs
from parity.compare.declared import compare_declared
from parity.compare.floor import ReferenceArrays, measure_floor
from parity.compare.kinds import decided
from parity.compare.reduced import reduced_yardsticks, wider_outputs
from parity.compare.remarks import remarks
from parity.compare.sets import set_groups
from parity.environment import machine_class
from parity.errors import ParityError
from parity.exporters import EXPORTERS
from parity.exporting import Exported, Exporting, export_facts
from parity.gates.behaviour import TWO_ANSWERS, judge_declared
from parity.golden.evidence import Evidence, toolchain
from parity.keeping import keep_worst
from parity.models.spec import ModelSpec
from parity.records import RAN, MemoryFacts, Record, ReferenceFacts, Stage, Symptom, Verdict
from parity.running import Running, with_outputs
from parity.samples.excluded import Excluded
from parity.samples.store import StoredSamples
from parity.settings import TimeoutSettings
from parity.targets import Target
from parity.workers.load import HELD_OUT, Loaded, load
from parity.workers.process import Children, value_of
from parity.workers.reduced import ReducedTask, reduced_reference
from parity.workers.reference import ORACLE, REFERENCE, REFUSED, ReferenceTask, reference
from parity.workers.run import OUTPUTS, Ran

T = TypeVar("T")


@dataclass(frozen=True)
class Judged:
    """A record without latency, and the artifact that can be timed if there is one."""

    record: Record
    artifact: Artifact | None = None

    @property
    def can_be_timed(self) -> bool:
        """Whether there is something to call, and it answered."""
        return self.artifact is not None and self.record.stage in RAN


@dataclass
class Workbench:
    """The stages of one model. Safe to use from several threads; every result is made once.

    Attributes:
        spec: The model.
        folder: Where samples and outputs lie while this lives; the caller removes it.
        artifacts: Where artifacts and logs are put for people to find.
        cache: Artifacts of earlier runs.
        children: Starts the child processes.
        timeouts: When they are stopped.
        threads: Intra-op threads of the reference and every target.
        batch_sizes: The sweep.
        device: What targets run on; the reference is made on the CPU.
    """

    spec: ModelSpec
    folder: Path
    artifacts: Path
    cache: ArtifactCache
    children: Children
    timeouts: TimeoutSettings
    threads: int = 1
    batch_sizes: tuple[int, ...] = (1, 2, 3, 8, 32)
    device: str = "cpu"
    notice: Callable[[str], None] = lambda _: None
    _made: dict[str, Any] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def samples(self) -> Path:
        """The folder of the stored samples."""
        return self.folder / "samples"

    def loaded(self) -> Loaded:
        """The model's and samples' facts; raises ModelError or SampleError where they cannot be had."""
        return self._once("load", self._load)

    def reference(self) -> Reference:
        """The reference; raises ModelError where the model does not run on its own samples."""
        return self._once("reference", self._reference)

    def reduced(self, precision: str) -> Reference:
        """The reference with the floors of a reduced precision, for targets that have one."""
        return self._once(f"reference in {precision}", lambda: self._reduced(precision))

    def exported(self, exporter: str) -> Exported:
        """The artifact of an exporter, from the cache or made now. Failures are values."""
        return self._once(f"export {exporter}", lambda: self._export(exporter))

    def judged(self, target: Target) -> Judged:
        """Everything but latency: export, run, compare, gate. Failures are records."""
        return self._once(f"judge {target.name}", lambda: self._judge(target))

    def stored(self) -> StoredSamples:
        """The held-out samples."""
        return StoredSamples(self.samples / HELD_OUT, self.spec.signature)

    def evidence(self) -> Evidence:
        """The reference as goldens look at it, sample by sample."""
        loaded, made = self.loaded(), self.reference()
        return Evidence(
            model=loaded.model,
            samples=loaded.samples,
            reference=made.facts,
            machine=machine_class(self.threads, self.device),
            toolchain=toolchain(),
            arrays=made.arrays,
            yardsticks=made.yardsticks,
            calls=loaded.calls,
            digests=self.stored().digests,
            batched=self.spec.signature.batch is not None,
            device=self.device,
        )

    def _once(self, key: str, make: Callable[[], T]) -> T:
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._made:
                try:
                    self._made[key] = make()
                except ParityError as error:
                    self._made[key] = error
            made = self._made[key]
        if isinstance(made, ParityError):
            raise made
        result: T = made
        return result

    def _load(self) -> Loaded:
        self.notice("load")
        log = self.artifacts / "load.log"
        outcome = self.children.run(
            load, self.spec, self.samples, self.batch_sizes, log=log, timeout=self.timeouts.load
        )
        loaded: Loaded = value_of(outcome, f"{self.spec.name} cannot be loaded")
        return loaded

    def _reference(self) -> Reference:
        loaded, task = self.loaded(), self._reference_task()
        self.notice("reference")
        folder = task.folder
        log = self.artifacts / "reference.log"
        outcome = self.children.run(reference, task, log=log, timeout=self.timeouts.run)
        if outcome.symptom is Symptom.CRASH:  # perhaps at an input that it should refuse
            outcome = self.children.run(reference, replace(task, excluded=()), log=log, timeout=self.timeouts.run)
        facts: ReferenceFacts = value_of(outcome, f"the reference of {self.spec.name} cannot be run")
        eager, exact = ArrayReader(folder, REFERENCE), ArrayReader(folder, ORACLE)
        facts = decided(facts, eager, loaded.calls, self.spec.decision)
        arrays = ReferenceArrays(eager, exact, set_groups(facts.outputs))
        yardsticks = measure_floor(facts, arrays, loaded.calls)
        mixed = mixed_outputs(arrays, yardsticks, loaded.calls, TWO_ANSWERS * self.spec.limits.ratio)
        facts = replace(facts, notes=(*facts.notes, *remarks(yardsticks, mixed, self.stored().labels)))
        return Reference(facts, arrays, yardsticks, mixed=mixed)

    def _reference_task(self) -> ReferenceTask:
        loaded = self.loaded()
        return ReferenceTask(
            spec=self.spec,
            samples=self.samples,
            calls=loaded.calls,
            folder=self.folder / "reference",
            threads=self.threads,
            weights_sha256=loaded.model.weights_sha256,
            excluded=loaded.excluded,
        )

    def _refused(self) -> tuple[Excluded, ...]:
        """Calls that the signature excludes and the model refuses."""
        refused = json.loads((self.folder / "reference" / REFUSED).read_text())
        return tuple(each for each in self.loaded().excluded if each.call.id in refused)

    def _reduced(self, precision: str) -> Reference:
        loaded, ref = self.loaded(), self.reference()
        if not wider_outputs(ref.yardsticks, precision):
            return ref
        task = self._reference_task()
        log = self.artifacts / f"reference.{precision}.log"
        outcome = self.children.run(reduced_reference, ReducedTask(task, precision), log=log, timeout=self.timeouts.run)
        if outcome.symptom is not Symptom.OK:
            failed = outcome.error.what if outcome.error else outcome.message
            return replace(ref, undecided=f"there is no floor for {precision}: {failed}")
        arrays = ArrayReader(task.folder, precision)
        yardsticks, why = reduced_yardsticks(ref.yardsticks, arrays, ref.arrays, loaded.calls, precision)
        return replace(ref, yardsticks=yardsticks, undecided=why and f"there is no floor for {precision}: {why}")

    def _export(self, name: str) -> Exported:
        source: Artifact | None = None
        needed = EXPORTERS.get(name).source
        if needed is not None:
            made = self.exported(needed)
            if made.artifact is None:
                return replace(made, message=f"needs {needed}, which ended with {made.symptom}: {made.message}")
            source = made.artifact
        return self._exporting.make(name, self.loaded(), source)

    @property
    def _exporting(self) -> Exporting:
        return Exporting(
            spec=self.spec,
            samples=self.samples,
            artifacts=self.artifacts,
            cache=self.cache,
            children=self.children,
            timeout=self.timeouts.export,
            threads=self.threads,
            notice=self.notice,
        )

    def _judge(self, target: Target) -> Judged:
        available = target.availability()
        if not available:
            # What was asked for by name and cannot be judged leaves the release undecided.
            verdict = Verdict.INCONCLUSIVE if target.requested else Verdict.SKIP
            return Judged(self._ended(target, Stage.EXPORT, Symptom.UNAVAILABLE, str(available), verdict))
        if target.artifact is not None:
            made = Exported(target.artifact, export_facts(target.artifact, cached=False), Symptom.OK)
        else:
            made = self.exported(target.exporter)
        if target.artifact is not None and (problem := target.artifact.manifest.problem):
            record = self._ended(target, Stage.OPEN, Symptom.EXCEPTION, problem, Verdict.FAIL)
            return Judged(replace(record, export=made.facts))
        if made.artifact is None:
            verdict = Verdict.SKIP if made.symptom is Symptom.UNSUPPORTED else Verdict.FAIL
            return Judged(self._ended(target, Stage.EXPORT, made.symptom, made.message, verdict, log=made.log))
        return self._run(target, made.artifact, made)

    def _run(self, target: Target, artifact: Artifact, made: Exported) -> Judged:
        loaded, ref = self.loaded(), self.reference()
        artifact = with_outputs(artifact, ref.facts)
        declared = compare_declared(artifact.manifest.declared, self.spec.signature, ref.facts.outputs)
        self.notice(f"run {target.name}")
        folder = self.folder / "outputs" / target.name
        log = self.artifacts / target.exporter / f"{target.runtime}.run.log"
        running = Running(self.spec, self.samples, self.children, self.timeouts.run, self.threads, self.device)
        task = running.task(artifact, target.runtime, loaded.calls, folder, ref.facts.outputs)
        attempt = running.attempt(task, self._refused(), log)
        outcome = attempt.outcome
        if outcome.symptom is not Symptom.OK:
            record = self._ended(target, Stage.RUN, outcome.symptom, outcome.message, Verdict.FAIL, log=str(log))
            return Judged(replace(record, export=made.facts, behaviour=judge_declared(declared)))
        ran: Ran = outcome.value
        if not ran.opened:
            record = self._ended(target, Stage.OPEN, Symptom.EXCEPTION, ran.message, Verdict.FAIL, log=str(log))
            return Judged(replace(record, export=made.facts, behaviour=judge_declared(declared)))
        cell = Cell(
            target=target.name,
            precision=artifact.manifest.precision,
            limits=self.spec.limits_for(target.name),
            calls=loaded.calls,
            outputs=ArrayReader(folder, OUTPUTS),
            failed=ran.failed,
            labels=self.stored().labels,
            synthetic=loaded.samples.synthetic,
            left_out=loaded.left_out,
            allowed=str(self.spec.signature.batch_dim),
            observed=(*declared, *attempt.behaviour),
        )
        record = judge_cell(cell, self.reduced(cell.precision) if cell.precision in REDUCED else ref)
        kept = keep_worst(record, cell, ref, self.stored(), log.with_name(f"{target.runtime}.worst"))
        memory = MemoryFacts(peak_bytes=outcome.peak_bytes) if outcome.peak_bytes is not None else None
        record = replace(record, export=made.facts, memory=memory, runtime=dict(ran.facts) or None, worst_samples=kept)
        return Judged(record if record.symptom is Symptom.OK else replace(record, log=str(log)), artifact)

    def _ended(
        self,
        target: Target,
        stage: Stage,
        symptom: Symptom,
        message: str,
        verdict: Verdict,
        *,
        log: str | None = None,
    ) -> Record:
        return Record(target=target.name, verdict=verdict, stage=stage, symptom=symptom, message=message, log=log)
