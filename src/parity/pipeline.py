"""Plan the cells, run them, time what ran, and gather the records into a report."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import parity
from parity.artifacts import emptied
from parity.cache import ArtifactCache, cache_folder
from parity.environment import cores, environment, today
from parity.errors import UsageError
from parity.explanations import with_explanations
from parity.gates.waivers import Waiver, waived
from parity.golden.check import check_golden
from parity.golden.record import Golden
from parity.golden.recording import check_recordable, check_room, record_golden
from parity.models.spec import ModelSpec
from parity.records import SCHEMA, Report, worst
from parity.samples.calls import BATCH_SIZES
from parity.scratch import is_scratch, scratch
from parity.settings import Settings
from parity.speed import Speed, SpeedRequest, time_model, untimed_record
from parity.storage import Place, blaming, temporary_place
from parity.targets import Target, foreign_target
from parity.workbench import Judged, Workbench
from parity.workers.inspecting import inspect_artifact
from parity.workers.process import Children, value_of

Notice = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What a report is asked to judge.

    Attributes:
        spec: The model.
        targets: What to export and run.
        settings: The project's settings.
        artifacts: Files made elsewhere, judged without exporting.
        runtime: The runtime for those, or None for the one that reads them.
        batch_sizes: The sweep, and what is timed.
        threads: Intra-op threads: everything is judged at the first number, and timed at each.
        latency: Whether to time.
        thorough: Whether every cell is timed for as long as an undecided one may be.
        budget_ms: What a call may take, in ms, for the largest batch size within it.
        golden: What was approved at the last release, or None.
        in_process: Run every stage in this process, for a debugger; nothing is timed then.
        device: `cpu` or `cuda`: what targets, and eager when it is timed, run on.
        waivers: Those of the model.
        today: The day that they are held against.
    """

    spec: ModelSpec
    targets: Sequence[Target]
    settings: Settings
    artifacts: Sequence[Path] = ()
    runtime: str | None = None
    batch_sizes: tuple[int, ...] = BATCH_SIZES
    threads: tuple[int, ...] = (1,)
    latency: bool = True
    thorough: bool = False
    budget_ms: float | None = None
    golden: Golden | None = None
    in_process: bool = False
    device: str = "cpu"
    waivers: tuple[Waiver, ...] = ()
    today: dt.date = field(default_factory=today)
    notice: Notice = field(default=lambda _: None)


def run_report(request: Request, out: Path, then: Callable[[Report], object] = lambda _: None) -> Report:
    """Judge a model at every target; artifacts and logs go to `out/artifacts`.

    Args:
        request: What to judge.
        out: The folder of the report.
        then: Called with the report at the end. Where it raises, the artifacts of the last report are back.

    Raises:
        ModelError: the model cannot be built or does not run on its own samples.
        SampleError: the samples cannot be read or do not fit.
        StorageError: a folder that it writes to is full, or cannot be written to.
    """
    with _bench(request, out) as bench:
        report = _judged_report(bench, request)
        then(report)
        return report


def record_report(request: Request, out: Path, folder: Path, *, accept: bool = False) -> tuple[Report, Golden]:
    """The same, and its outcome is written to `folder` as the golden of the model.

    Raises:
        ModelError: the model cannot be built or does not run on its own samples.
        SampleError: the samples cannot be read or do not fit.
        GoldenError: as `record_golden` raises it; an existing golden is refused before anything is run.
    """
    check_recordable(folder, request.spec.name, accept=accept)
    check_room(folder)
    with _bench(request, out) as bench:
        report = _judged_report(bench, request)
        return report, record_golden(report, bench, folder, accept=accept)


@contextlib.contextmanager
def _bench(request: Request, out: Path) -> Iterator[Workbench]:
    artifacts = out / "artifacts"
    _refuse_own(request.artifacts, artifacts)
    own = Place(out, "reports and artifacts", "make room there, or choose another folder with --out DIR")
    temporary = temporary_place()
    # A folder of ours has no name that could be given; what is temporary there is all of it.
    places = (temporary,) if is_scratch(out) else (own, temporary)
    children = Children(in_process=request.in_process, places=places)
    with blaming(places), scratch() as folder, emptied(artifacts), children:
        yield Workbench(
            spec=request.spec,
            folder=folder,
            artifacts=artifacts,
            cache=ArtifactCache(cache_folder(request.settings), spare=folder / "cache"),
            children=children,
            timeouts=request.settings.timeouts,
            threads=request.threads[0],
            batch_sizes=request.batch_sizes,
            device=request.device,
            notice=request.notice,
        )


def _judged_report(bench: Workbench, request: Request) -> Report:
    targets = (*request.targets, *_foreign(request, bench))
    judged = with_explanations(_judge_all(bench, targets, request), targets, bench)
    speed = _time(bench, targets, judged, request) if request.latency else None
    return _report(bench, judged, speed, request)


def _refuse_own(given: Sequence[Path], artifacts: Path) -> None:
    """An artifact to judge must not lie where this run puts its own, which replace what is there."""
    for path in given:
        if path.resolve().is_relative_to(artifacts.resolve()):
            raise UsageError("this artifact lies in the folder that the run would empty", where=str(path),
                             got=f"--out {artifacts.parent}", hint="choose another folder with --out DIR")  # fmt: skip


def _foreign(request: Request, bench: Workbench) -> tuple[Target, ...]:
    found: list[Target] = []
    for path in request.artifacts:
        log = bench.artifacts / f"{path.name}.inspect.log"
        outcome = bench.children.run(inspect_artifact, path.resolve(), log=log, timeout=request.settings.timeouts.load)
        artifact = value_of(outcome, f"{path} cannot be read")
        found.append(foreign_target(path, artifact, request.runtime))
    names = [target.name for target in found]
    # Files of one name are told apart by their folders: a target's name is what its results are kept under.
    return tuple(
        replace(target, exporter=str(path).replace("/", "-")) if names.count(target.name) > 1 else target
        for path, target in zip(request.artifacts, found, strict=True)
    )


def _judge_all(bench: Workbench, targets: Sequence[Target], request: Request) -> list[Judged]:
    """Exports and runs, as many at a time as there are cores for their threads."""
    bench.loaded()
    if request.in_process:  # one after the other and in the main thread, where a debugger is at home
        bench.reference()
        return [bench.judged(target) for target in targets]
    jobs = max(cores() // bench.threads, 1)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            first = pool.submit(bench.reference)
            cells = [pool.submit(bench.judged, target) for target in targets]
            first.result()
            return [cell.result() for cell in cells]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            bench.children.end_all()
            raise


def _time(bench: Workbench, targets: Sequence[Target], judged: Sequence[Judged], request: Request) -> Speed | None:
    if request.in_process or bench.reference().facts.unstable:
        return None
    wanted = SpeedRequest(
        batches=_timed_batches(bench),
        latency=request.settings.latency,
        golden=request.golden,
        threads=request.threads,
        device=request.device,
        thorough=request.thorough,
        budget_ms=request.budget_ms,
    )
    return time_model(bench, zip(targets, judged, strict=True), wanted)


def _timed_batches(bench: Workbench) -> tuple[int, ...]:
    """Those asked for that eager ran; where the signature allows none of them, whatever else was swept."""
    if bench.spec.signature.batch is None:
        return (1,)
    ran = bench.reference().arrays.eager
    swept = (call for call in bench.loaded().calls if not call.sizes and ran.get_all(call.id))
    plain = {call.sweep for call in swept if call.sweep is not None}
    return tuple(batch for batch in dict.fromkeys(bench.batch_sizes) if batch in plain) or tuple(sorted(plain))


def _report(bench: Workbench, judged: Sequence[Judged], speed: Speed | None, request: Request) -> Report:
    loaded, facts = bench.loaded(), bench.reference().facts
    untimed = speed.timings.failed if speed is not None else {}
    timed = [speed.timed_record(each.record) if speed else untimed_record(each.record, bench.spec) for each in judged]
    records = [waived(each, request.waivers, request.today, untimed.get(each.target)) for each in timed]
    golden = check_golden(request.golden, records, bench) if request.golden else ()
    verdicts = [record.verdict for record in records]
    verdicts += [result.verdict for result in golden if result.verdict is not None]
    return Report(
        schema=SCHEMA,
        parity=parity.__version__,
        created=dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        environment=environment(bench.threads, request.device),
        model=loaded.model,
        samples=loaded.samples,
        reference=speed.timed_reference(facts) if speed else facts,
        records=tuple(records),
        verdict=worst(verdicts),
        settings=_settings(request),
        golden=golden,
        timing=speed.facts() if speed else None,
    )


def _settings(request: Request) -> dict[str, Any]:
    """The limits and the waivers that the model was judged under."""
    spec = request.spec
    return {
        "limits": spec.limits.given(),
        "target_limits": {target: limits.given() for target, limits in spec.target_limits},
        "waivers": {each.label: f"until {each.expires}: {each.reason}" for each in request.waivers},
    }
