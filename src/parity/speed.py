"""The time stage of one model: what is timed, which cells need more of it, and what its targets' records gain."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from parity.environment import machine_class
from parity.environment.disturbance import changes, noise
from parity.environment.state import read_state
from parity.gates.budgets import judge_budgets
from parity.gates.latency import judge_latency
from parity.golden.baseline import latency_baseline
from parity.golden.record import Golden
from parity.latency.bursts import Burst
from parity.latency.plan import Plan
from parity.latency.statistics import summarise
from parity.latency.sweep import sweeps
from parity.models.spec import EVERY_BATCH, ModelSpec
from parity.records import (
    RAN,
    BudgetResult,
    LatencyMeasurement,
    LatencyResult,
    MachineFacts,
    Record,
    ReferenceFacts,
    Stage,
    StartupFacts,
    SweepFacts,
    Symptom,
    TimingFacts,
    Verdict,
    told,
    worst,
)
from parity.running import compiled_places
from parity.settings import LatencySettings
from parity.targets import Target
from parity.workbench import Judged, Workbench
from parity.workers.timed import REFERENCE, Cell, TimeTask, Timing, Timings, time_targets

Notice = Callable[[str], None]


@dataclass(frozen=True)
class SpeedRequest:
    """How a model is timed.

    Attributes:
        batches: Batch sizes.
        latency: How long that may take.
        golden: What was approved at the last release, or None.
        threads: Numbers of intra-op threads.
        device: What everything runs on.
        thorough: Whether every cell gets all the time there is, decided or not: a golden is held against for long.
        budget_ms: What a call may take, in ms, for the largest batch size within it.
    """

    batches: Sequence[int]
    latency: LatencySettings
    golden: Golden | None = None
    threads: Sequence[int] = (1,)
    device: str = "cpu"
    thorough: bool = False
    budget_ms: float | None = None


def time_model(bench: Workbench, cells: Iterable[tuple[Target, Judged]], request: SpeedRequest) -> Speed:
    """Time every target that can be timed beside eager. Failures are part of what is returned."""
    eager = TimeTask(bench.spec, bench.samples, bench.threads, device=request.device)
    tasks = {REFERENCE: eager} | {
        target.name: replace(eager, artifact=each.artifact, runtime=target.runtime)
        for target, each in cells
        if each.can_be_timed
    }
    speed = Speed(bench.spec, request)
    before, own = read_state(), time.process_time()
    timing = Timing(
        children=bench.children,
        tasks=tasks,
        batches=request.batches,
        plan=Plan(request.latency.seconds, request.latency.processes, request.latency.max_seconds),
        logs=bench.artifacts / "timing",
        threads=request.threads,
        timeout=bench.timeouts.run,
        undecided=speed.undecided,
        progress=lambda text: bench.notice(f"time {text}"),
    )
    timings = time_targets(timing)
    failed = [artifact for name in timings.failed if (artifact := tasks[name].artifact) is not None]
    if timings.failed:
        bench.children.check_room([place for artifact in failed for place in compiled_places(artifact)])
    used = time.process_time() - own + timings.cpu_seconds
    machine = changes(before, read_state(), own_cpu_seconds=used)
    return replace(speed, timings=timings, machine=machine)


@dataclass(frozen=True)
class Speed:
    """What was timed, held against the limits and the golden.

    Attributes:
        spec: The model.
        request: How it was timed.
        timings: The bursts.
        machine: What the machine did meanwhile.
    """

    spec: ModelSpec
    request: SpeedRequest
    timings: Timings = field(default_factory=Timings)
    machine: MachineFacts | None = None
    _summaries: dict[tuple[Cell, int], LatencyMeasurement] = field(default_factory=dict, repr=False, compare=False)

    @property
    def disturbances(self) -> tuple[str, ...]:
        """What makes these times doubtful, in sentences."""
        return (*(noise(self.machine) if self.machine else ()), *self.timings.disturbances())

    def facts(self) -> TimingFacts:
        """The stage itself."""
        made = self.timings
        return TimingFacts(
            seconds=made.seconds,
            burst_seconds=made.burst_seconds,
            sittings=made.sittings,
            machine=self.machine,
            notes=self.disturbances,
        )

    def undecided(self, timings: Timings) -> Collection[Cell]:
        """Cells of which neither the ratio nor an absolute limit is decided by what there is so far."""
        so_far = replace(self, timings=timings)
        cells = [cell for cell in timings.paired if cell.target != REFERENCE]
        if self.request.thorough:
            return cells
        wanted: set[Cell] = set()
        for target in dict.fromkeys(cell.target for cell in cells):
            results: tuple[LatencyResult | BudgetResult, ...] = (*so_far.results(target), *so_far.budgets(target))
            wanted |= {
                Cell(target, each.batch, each.threads)
                for each in results
                if each.verdict is Verdict.INCONCLUSIVE and each.batch is not None and each.threads is not None
            }
        return wanted

    def measured(self, target: str) -> tuple[LatencyMeasurement, ...]:
        """The measurements of a target, or of `REFERENCE`, in the order of threads and batch sizes."""
        cells = sorted((cell for cell in self.timings.paired if cell.target == target), key=lambda cell: cell[::-1])
        return tuple(self._summary(cell) for cell in cells)

    def _summary(self, cell: Cell) -> LatencyMeasurement:
        pairs = self.timings.paired[cell]
        key = (cell, len(pairs))
        if key not in self._summaries:
            self._summaries[key] = summarise(cell.batch, cell.threads, pairs)
        return self._summaries[key]

    def bursts(self, target: str, batch: int) -> list[Burst]:
        """All bursts of a target at a batch size, process by process, without those that were disturbed."""
        cells = [cell for cell in self.timings.paired if (cell.target, cell.batch) == (target, batch)]
        pairs = [each for cell in cells for each in self.timings.paired[cell]]
        return [burst for each in pairs for burst in each.undisturbed().target]

    def results(self, target: str) -> tuple[LatencyResult, ...]:
        """Each measurement of a target held against the golden's."""
        limits = self.spec.limits_for(target)
        found = []
        for each in self.measured(target):
            here = machine_class(each.threads, self.request.device)
            baseline, absent = latency_baseline(self.request.golden, target, each.batch, here)
            found.append(judge_latency(each, baseline, limits, absent, self.disturbances))
        return tuple(found)

    def budgets(self, target: str, record: Record | None = None) -> tuple[BudgetResult, ...]:
        """The absolute limits on a target; those on size and memory as well where its record is given."""
        return judge_budgets(
            self.spec.limits_for(target),
            self.measured(target),
            size=record.export.bytes if record and record.export else None,
            peak=record.memory.peak_bytes if record and record.memory else None,
            timed=target not in self.timings.failed,
            disturbances=self.disturbances,
            untimed=self._untimed,
        )

    def _untimed(self, batch: int) -> str:
        """Why there are no times at a batch size, and what would make some."""
        dim, timed = self.spec.signature.batch_dim, self.request.batches
        if dim is None:
            return "it is never timed there: the inputs have no batch dimension, and a call is batch 1"
        if not dim.admits(batch):
            return f"it is never timed there: the signature's batch size is {dim}"
        if batch in timed:
            return "it could not be timed there"
        return f"it was not timed there: --batch-sizes {','.join(map(str, sorted({*timed, batch})))} does"

    def timed_record(self, record: Record) -> Record:
        """A record with what was measured of its speed, and the verdict on that."""
        failed = self.timings.failed.get(record.target)
        if failed is not None:
            if record.verdict is Verdict.FAIL:
                return record
            symptom = self.timings.symptoms.get(record.target, Symptom.EXCEPTION)
            message = f"timing: {failed}"
            return replace(record, verdict=Verdict.FAIL, stage=Stage.TIME, symptom=symptom, message=message)
        results = self.results(record.target)
        record = replace(record, latency=results, startup=self.startup(record.target), sweep=self._sweep(record.target))
        return _judged(record, results, self.budgets(record.target, record) if results else ())

    def timed_reference(self, facts: ReferenceFacts) -> ReferenceFacts:
        """The reference with eager's own times, or with the reason why no target has a ratio to them."""
        failed = self.timings.failed.get(REFERENCE)
        note = () if failed is None else (f"eager could not be timed, so there is no ratio to it: {failed}",)
        return replace(
            facts,
            latency=self.measured(REFERENCE),
            startup=self.startup(REFERENCE),
            sweep=self._sweep(REFERENCE),
            notes=(*facts.notes, *note),
        )

    def startup(self, target: str) -> tuple[StartupFacts, ...]:
        """How long a target's processes took to begin, for each number of threads."""
        found = []
        for (name, threads), starts in self.timings.starts.items():
            if name == target:
                loads, firsts = ([getattr(each, what) for each in starts] for what in ("load_seconds", "first_seconds"))
                found.append(
                    StartupFacts(
                        threads=threads,
                        batch=starts[0].batch,
                        load_ms=statistics.median(loads) * 1e3,
                        first_ms=statistics.median(firsts) * 1e3,
                        processes=len(starts),
                    )
                )
        return tuple(found)

    def _sweep(self, target: str) -> tuple[SweepFacts, ...]:
        slowest = {
            (cell.threads, cell.batch): max(max(burst.times) for each in pairs for burst in each.target) * 1e3
            for cell, pairs in self.timings.paired.items()
            if cell.target == target
        }
        return sweeps(self.measured(target), self.request.budget_ms, slowest)


def limited_batches(spec: ModelSpec, targets: Iterable[str]) -> tuple[int, ...]:
    """The batch sizes that limits on the time of a call name, where the signature allows them, in order."""
    named = {batch for target in targets for batch, _ in spec.limits_for(target).max_ms or () if batch != EVERY_BATCH}
    dim = spec.signature.batch_dim
    return () if dim is None else tuple(sorted(filter(dim.admits, named)))


def untimed_record(record: Record, spec: ModelSpec) -> Record:
    """A record that nothing was timed for, with the limits on its size and memory."""
    budgets = judge_budgets(
        spec.limits_for(record.target),
        (),
        size=record.export.bytes if record.export else None,
        peak=record.memory.peak_bytes if record.memory else None,
        timed=False,
    )
    return _judged(record, (), budgets if record.stage in RAN else ())


def _judged(record: Record, results: Sequence[LatencyResult], budgets: Sequence[BudgetResult]) -> Record:
    """The record with the verdicts on its speed and size; one that is worse than its own comes with its message."""
    record = replace(record, latency=tuple(results), budgets=tuple(budgets))
    found: tuple[LatencyResult | BudgetResult, ...] = (*results, *budgets)
    verdict = worst([record.verdict, *(each.verdict for each in found)])
    if verdict is record.verdict:
        return record
    message = next(told(each) for each in found if each.verdict is verdict)
    if verdict is not Verdict.FAIL:
        return replace(record, verdict=verdict, message=message)
    return replace(record, verdict=verdict, message=message, stage=Stage.TIME, symptom=Symptom.MISMATCH)
