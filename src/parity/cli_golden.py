"""`parity golden record|check|accept`: what was approved at the last release."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parity.cli_shell import console, guarded, numbers, progress, thread_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from parity.pipeline import Request

golden_app = typer.Typer(help="What was approved at the last release.", no_args_is_help=True)

_Name = Annotated[str, typer.Argument(metavar="NAME", help="A registered model.")]
_Folder = Annotated[Path | None, typer.Option("--golden", help="Folder of goldens, instead of the settings'.")]
_Threads = Annotated[
    str, typer.Option(help="Intra-op threads of everything; of 1,2,all the first is judged at and each is timed.")
]
_NoLatency = Annotated[bool, typer.Option("--no-latency", help="Do not time.")]
_BatchSizes = Annotated[
    str | None, typer.Option(help="Batch sizes to compare and time; a suite needs no more than its own.")
]
_Seconds = Annotated[
    float | None, typer.Option(help="Seconds that each target is timed at a batch size, instead of the settings'.")
]


@golden_app.command()
def record(
    name: _Name,
    *,
    golden: _Folder = None,
    threads: _Threads = "1",
    batch_sizes: _BatchSizes = None,
    latency_seconds: _Seconds = None,
    no_latency: _NoLatency = False,
) -> None:
    """Judge a model and write its golden; one that exists is not touched."""
    changes = {"batch_sizes": batch_sizes, "latency_seconds": latency_seconds, "latency": not no_latency}
    _write(name, golden, threads, changes, accept=False)


@golden_app.command()
def accept(
    name: _Name,
    *,
    golden: _Folder = None,
    threads: _Threads = "1",
    batch_sizes: _BatchSizes = None,
    latency_seconds: _Seconds = None,
    no_latency: _NoLatency = False,
) -> None:
    """Approve the model as it is now: its golden is written anew."""
    changes = {"batch_sizes": batch_sizes, "latency_seconds": latency_seconds, "latency": not no_latency}
    _write(name, golden, threads, changes, accept=True)


@golden_app.command()
def check(name: _Name, *, golden: _Folder = None, threads: _Threads = "1") -> None:
    """Hold today's reference against the golden, and say what moved: model, data or toolchain."""
    with guarded():
        from parity.golden.files import read_golden  # noqa: PLC0415
        from parity.pipeline import run_report  # noqa: PLC0415
        from parity.records import EXIT_STATUS  # noqa: PLC0415
        from parity.reports.terminal import print_report  # noqa: PLC0415
        from parity.scratch import scratch  # noqa: PLC0415

        with progress() as notice, scratch() as out:
            request, folder = _request(name, golden, threads, notice)
            request = dataclasses.replace(request, targets=(), latency=False, golden=read_golden(folder))
            made = run_report(request, out)
        print_report(made, console())
        raise typer.Exit(EXIT_STATUS[made.verdict])


def _write(name: str, golden: Path | None, threads: str, changes: dict[str, Any], *, accept: bool) -> None:
    with guarded():
        from parity.pipeline import record_report  # noqa: PLC0415
        from parity.reports.terminal import print_report  # noqa: PLC0415
        from parity.scratch import scratch  # noqa: PLC0415

        with progress() as notice, scratch() as out:
            request, folder = _request(name, golden, threads, notice)
            made, _ = record_report(_timed(request, **changes), out, folder, accept=accept)
        print_report(made, console())
        typer.echo(f"golden: {folder}")


def _timed(request: Request, *, batch_sizes: str | None, latency_seconds: float | None, latency: bool) -> Request:
    """The request as the options change it: every target is timed for as long as an undecided one may be."""
    from parity.api import checked_batch_sizes, with_latency_seconds  # noqa: PLC0415

    sizes = request.batch_sizes if batch_sizes is None else checked_batch_sizes(numbers(batch_sizes))
    settings = with_latency_seconds(request.settings, latency_seconds)
    return dataclasses.replace(request, batch_sizes=sizes, settings=settings, latency=latency, thorough=True)


def _request(name: str, golden: Path | None, threads: str, notice: Callable[[str], None]) -> tuple[Request, Path]:
    from parity.completing import completed  # noqa: PLC0415
    from parity.environment import today  # noqa: PLC0415
    from parity.gates.waivers import waivers_of  # noqa: PLC0415
    from parity.golden.files import golden_folder  # noqa: PLC0415
    from parity.models.find import find_model  # noqa: PLC0415
    from parity.models.registry import known_names  # noqa: PLC0415
    from parity.pipeline import Request  # noqa: PLC0415
    from parity.settings import find_settings  # noqa: PLC0415
    from parity.targets import check_target_limits, plan_targets  # noqa: PLC0415

    settings = find_settings()
    spec = completed(find_model(name, settings), settings, notice)
    check_target_limits(settings)
    waivers = waivers_of(settings, spec.name, today(), known_names(settings, spec.name))
    folder = golden / spec.name if golden is not None else golden_folder(settings, spec.name)
    targets = plan_targets(spec.targets)
    request = Request(
        spec=spec, targets=targets, settings=settings, threads=thread_counts(threads), waivers=waivers, notice=notice
    )  # fmt: skip
    return request, folder
