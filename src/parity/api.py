"""The Python entry point: `parity.report(...)` gives the same `Report` as the command."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from parity.environment import today as this_day
from parity.errors import UsageError
from parity.gates.waivers import waivers_of
from parity.golden.record import Golden
from parity.models.find import find_model
from parity.models.refs import is_reference
from parity.models.registry import known_names
from parity.models.spec import ModelSpec
from parity.records import Report
from parity.samples.calls import BATCH_SIZES
from parity.settings import Settings, find_settings
from parity.targets import check_target_limits, plan_targets
from parity.workers.process import refuse_recursion


def report(
    model: str,
    *,
    arch: str | None = None,
    inputs: Sequence[str] = (),
    samples: str | None = None,
    preprocess: str | None = None,
    calibration: str | None = None,
    labels: str | None = None,
    targets: Sequence[str] | None = None,
    artifacts: Sequence[str | Path] = (),
    batch_sizes: Sequence[int] = BATCH_SIZES,
    threads: int | Sequence[int] = 1,
    latency: bool = True,
    latency_seconds: float | None = None,
    budget_ms: float | None = None,
    golden: str | Path | None = None,
    out: str | Path | None = None,
    allow_missing: Sequence[str] = (),
    trust_pickle: bool = False,
    in_process: bool = False,
    device: str = "cpu",
    timeout: float | None = None,
    notice: Callable[[str], None] = lambda _: None,
) -> Report:
    """Export a model, run it everywhere, and judge every target against the eager reference.

    Args:
        model: A registered name, the path of a file, `package.module:factory`, or an architecture such as
            `torchvision:resnet18`.
        arch: Factory of the module that a checkpoint belongs to, or an architecture; recognised where it is left out.
        inputs: Written inputs such as `image: float32[N, 3, 224, 224]`, where nothing else tells them.
        samples: Held-out inputs: a file, a folder, or `package.module:function`.
        preprocess: What makes an image of a folder into inputs: `torchvision:WEIGHTS` or `package.module:function`.
        calibration: Inputs for static quantization, disjoint from the held-out ones.
        labels: Labels of the held-out samples.
        targets: `exporter@runtime` or an exporter alone; the model's registered ones, else all.
        artifacts: Files made elsewhere, judged without exporting. Given alone, nothing is exported.
        batch_sizes: Batch sizes that are compared and timed.
        threads: Intra-op threads of the reference and every target. Of several, all are timed, and everything is
            judged at the first one.
        latency: Whether to time.
        latency_seconds: Burst time up to which a cell is timed that stays undecided, instead of the settings'.
        budget_ms: What a call may take, in ms: the report names the largest batch size within it.
        golden: Folder of goldens to hold the model against.
        out: Where reports and artifacts are written; nothing is kept where it is left out.
        allow_missing: Patterns such as `fc.*` of keys that module and checkpoint need not share, or not in shape.
        trust_pickle: Read checkpoints that run code of their own; only for files whose maker is trusted.
        in_process: Run every stage in this process, for a debugger.
        device: `cpu` or `cuda`: what targets, and eager when it is timed, run on.
        timeout: Seconds after which any export or run is stopped, instead of the settings'.
        notice: Called with a few words whenever a stage starts.

    Returns:
        The report, one record for each target; failures of targets are records, not exceptions.

    Raises:
        ParityError: the request itself is wrong: the model cannot be read or does not run, samples do
            not fit, a target is unknown. StorageError where a disk is full or a folder cannot be written to.
    """
    refuse_recursion()
    settings = find_settings()
    if timeout is not None:
        timeouts = settings.timeouts.model_copy(update={"export": timeout, "run": timeout})
        settings = settings.model_copy(update={"timeouts": timeouts})
    settings = with_latency_seconds(settings, latency_seconds)
    draft = find_model(model, settings, arch=arch, inputs=tuple(inputs)).with_changes(
        samples=_absolute(samples, settings), calibration=_absolute(calibration, settings),
        labels=_absolute(labels, settings), trust_pickle=trust_pickle or None,
        preprocess=preprocess, allow_missing=tuple(allow_missing) or None,
    )  # fmt: skip
    check_target_limits(settings)
    waivers = waivers_of(settings, draft.spec.name, today := this_day(), known_names(settings, draft.spec.name))
    batch_sizes, counts = checked_batch_sizes(batch_sizes), _counts(threads)
    _refuse_budget(budget_ms, latency=latency)
    # What is wrong with a request is said before torch is imported, which takes seconds.
    from parity.completing import completed  # noqa: PLC0415
    from parity.pipeline import Request, run_report  # noqa: PLC0415
    from parity.scratch import scratch  # noqa: PLC0415

    spec = completed(draft, settings, notice, in_process=in_process)
    runtime, chosen = _split_runtime(targets, artifacts)
    request = Request(
        spec=spec,
        targets=() if artifacts and chosen is None else plan_targets(chosen if chosen is not None else spec.targets),
        settings=settings,
        artifacts=tuple(Path(path) for path in artifacts),
        runtime=runtime,
        batch_sizes=batch_sizes,
        threads=counts,
        latency=latency,
        budget_ms=budget_ms,
        golden=read_golden_of(spec, Path(golden)) if golden is not None else None,
        in_process=in_process,
        device=_usable(device),
        waivers=waivers,
        today=today,
        notice=notice,
    )
    if out is None:
        with scratch() as folder:
            return run_report(request, folder)
    from parity.reports.files import check_writable, write_reports  # noqa: PLC0415  # loads the renderers

    folder = Path(out)
    check_writable(folder)
    return run_report(request, folder, then=lambda made: write_reports(made, folder))


def read_golden_of(spec: ModelSpec, folder: Path) -> Golden:
    """The golden of a model in a folder of goldens."""
    from parity.golden.files import read_golden  # noqa: PLC0415  # only where one is asked for

    return read_golden(folder / spec.name)


def _split_runtime(
    targets: Sequence[str] | None, artifacts: Sequence[str | Path]
) -> tuple[str | None, Sequence[str] | None]:
    """With artifacts, a target may be `@runtime` or a runtime's name: it chooses theirs and exports nothing."""
    from parity.runtimes import RUNTIMES  # noqa: PLC0415  # cheap, but not needed to import this module

    if targets is None or not artifacts:
        return None, targets
    runtimes = [target.lstrip("@") for target in targets if target.lstrip("@") in RUNTIMES]
    others = [target for target in targets if target.lstrip("@") not in RUNTIMES]
    if len(runtimes) > 1:
        raise UsageError("an artifact is run at one runtime at a time", got=", ".join(runtimes))
    return next(iter(runtimes), None), others or None


def _absolute(source: str | None, settings: Settings) -> str | None:
    """What is typed on the command line is relative to where it is typed; a reference stays as it is."""
    if source is None or (is_reference(source) and not Path(source).exists()):
        return source
    path = Path(source).resolve()
    if not path.exists() and (settings.root / source).exists():
        return source
    return path.relative_to(settings.root).as_posix() if path.is_relative_to(settings.root) else str(path)


def checked_batch_sizes(batch_sizes: Sequence[int]) -> tuple[int, ...]:
    """Each of them once, in order; raises UsageError where there is none or one is not above 0."""
    if not batch_sizes or any(size < 1 for size in batch_sizes):
        raise UsageError("batch sizes are whole numbers from 1 on", got=", ".join(map(str, batch_sizes)) or "none",
                         hint="--batch-sizes 1,2,8")  # fmt: skip
    return tuple(dict.fromkeys(batch_sizes))


def _usable(device: str) -> str:
    from parity.environment import DEVICES, cuda  # noqa: PLC0415  # asks torch, for a GPU alone

    if device not in DEVICES:
        raise UsageError("there is no such device", allowed=", ".join(DEVICES), got=device)
    if device == "cuda" and not (available := cuda()):
        raise UsageError("there is no GPU to run on", got=str(available), hint="--device cpu")
    return device


def _counts(threads: int | Sequence[int]) -> tuple[int, ...]:
    counts = (threads,) if isinstance(threads, int) else tuple(dict.fromkeys(threads))
    if not counts or min(counts) < 1:
        raise UsageError("there must be one thread at least", allowed="--threads 1, or --threads 1,2,all",
                         got=", ".join(map(str, counts)) or "none")  # fmt: skip
    return counts


def with_latency_seconds(settings: Settings, most: float | None) -> Settings:
    """The settings with another bound on what an undecided cell may take; raises UsageError where it is not above 0."""
    if most is None:
        return settings
    if not 0 < most < math.inf:
        raise UsageError(
            "timing takes some time, and ends", allowed="seconds above 0", got=f"--latency-seconds {most:g}"
        )
    latency = settings.latency
    changed = latency.model_copy(update={"max_seconds": most, "seconds": min(latency.seconds, most)})
    return settings.model_copy(update={"latency": changed})


def _refuse_budget(budget_ms: float | None, *, latency: bool) -> None:
    if budget_ms is not None and not latency:
        raise UsageError("nothing is timed, so there is nothing to hold a budget against",
                         got=f"--no-latency and --budget-ms {budget_ms:g}", hint="leave one of them out")  # fmt: skip
    if budget_ms is not None and not budget_ms > 0:
        raise UsageError("no call is that fast", allowed="milliseconds above 0", got=f"--budget-ms {budget_ms:g}")
