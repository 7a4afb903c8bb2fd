"""The command line: a thin shell over the pipeline and the reports. Imports are inside the commands."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated, Any

import typer

from parity.cli_diff import diff
from parity.cli_golden import golden_app
from parity.cli_shell import console, exits, guarded, numbers, progress, thread_counts

app = typer.Typer(
    name="parity",
    help="Is the artifact we are about to ship the same function as the PyTorch model we evaluated?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(golden_app, name="golden")
app.command()(diff)


def _version(*, shown: bool) -> None:
    if shown:
        from parity import __version__  # noqa: PLC0415

        typer.echo(f"parity {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=lambda value: _version(shown=value), is_eager=True, help="Show it.")
    ] = False,
) -> None:
    del version  # its callback has answered


@app.command()
def report(
    model: Annotated[
        str, typer.Argument(help="A registered name, a file, package.module:factory, or torchvision:NAME.")
    ],
    *,
    arch: Annotated[
        str | None, typer.Option(help="What a checkpoint belongs to: package.module:factory, or torchvision:NAME.")
    ] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="An input, such as 'image: float32[N, 3, 224, 224]'.")
    ] = None,
    samples: Annotated[
        str | None, typer.Option(help="Held-out samples: a file, a folder, or package.module:fn.")
    ] = None,
    preprocess: Annotated[
        str | None, typer.Option(help="Makes images inputs: torchvision:WEIGHTS, or package.module:fn.")
    ] = None,
    calibration: Annotated[str | None, typer.Option(help="Samples for static quantization, others.")] = None,
    labels: Annotated[str | None, typer.Option(help="Labels of the held-out samples.")] = None,
    targets: Annotated[
        list[str] | None, typer.Option("--target", help="exporter@runtime, or an exporter; repeatable.")
    ] = None,
    artifacts: Annotated[
        list[Path] | None, typer.Option("--artifact", help="A file made elsewhere, judged as it is; repeatable.")
    ] = None,
    batch_sizes: Annotated[str, typer.Option(help="Batch sizes to compare and time.")] = "1,2,3,8,32",
    threads: Annotated[
        str, typer.Option(help="Intra-op threads of everything; of 1,2,all the first is judged at and each is timed.")
    ] = "1",
    no_latency: Annotated[bool, typer.Option("--no-latency", help="Do not time.")] = False,
    latency_seconds: Annotated[
        float | None, typer.Option(help="Seconds up to which a target that stays undecided is timed at a batch size.")
    ] = None,
    budget_ms: Annotated[
        float | None, typer.Option(help="What a call may take: the largest batch size within it is named.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the report and the artifacts go.")] = Path("parity-report"),
    golden: Annotated[Path | None, typer.Option(help="Folder of goldens to hold the model against.")] = None,
    device: Annotated[str, typer.Option(help="What targets run on: cpu or cuda.")] = "cpu",
    timeout: Annotated[float | None, typer.Option(help="Seconds that any export or run may take.")] = None,
    allow_missing: Annotated[
        list[str] | None, typer.Option(help="Keys, such as 'fc.*', that model and file need not share; repeatable.")
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Read checkpoints that run code of their own.")
    ] = False,
    in_process: Annotated[bool, typer.Option("--in-process", help="One process, for a debugger.")] = False,
) -> None:
    """Export a model every way it ships, judge every target, and write the report."""
    with guarded():
        from parity.workers.process import early_forkserver  # noqa: PLC0415

        with contextlib.nullcontext() if in_process else early_forkserver(), progress() as notice:
            from parity import api  # noqa: PLC0415  # imports torch, beside the forkserver

            made = api.report(
                model,
                arch=arch,
                inputs=inputs or (),
                samples=samples,
                preprocess=preprocess,
                calibration=calibration,
                labels=labels,
                targets=targets,
                artifacts=artifacts or (),
                batch_sizes=numbers(batch_sizes),
                threads=thread_counts(threads),
                latency=not no_latency,
                latency_seconds=latency_seconds,
                budget_ms=budget_ms,
                golden=golden,
                out=out,
                in_process=in_process,
                device=device,
                timeout=timeout,
                allow_missing=allow_missing or (),
                trust_pickle=trust_pickle,
                notice=notice,
            )
        _show(made, out)


def _show(made: Any, out: Path) -> None:
    from parity.records import EXIT_STATUS  # noqa: PLC0415
    from parity.reports.terminal import print_report  # noqa: PLC0415

    print_report(made, console())
    typer.echo(f"report: {out / 'report.html'}")
    raise typer.Exit(EXIT_STATUS[made.verdict])


@app.command()
def models() -> None:
    """List the registered models."""
    with guarded():
        from rich.table import Table  # noqa: PLC0415

        from parity.models.registry import known_models  # noqa: PLC0415
        from parity.settings import find_settings  # noqa: PLC0415

        known = known_models(find_settings())
        if not known:
            typer.echo("no model is registered: parity init writes a parity.toml to start from")
            return
        table = Table("model", "inputs", "weights", "held-out", "decisions", "targets", box=None, header_style="bold")
        for spec in known.values():
            inputs = "\n".join(map(str, spec.signature.inputs))
            held_out = _short(spec.samples)
            decisions = ", ".join(kind if output == "*" else f"{output}: {kind}" for output, kind in spec.decision)
            targets = ", ".join(spec.targets or ("all",))
            table.add_row(spec.name, inputs, spec.weights or "", held_out, decisions or "inferred", targets)
        console().print(table)


def _short(source: str | None) -> str:
    """A reference without the folder that its file lies in."""
    return "synthetic" if source is None else source.rpartition("/")[2]


@app.command()
def targets() -> None:
    """List every exporter and runtime, with its version or the reason why it is unavailable."""
    with guarded():
        from rich.markup import escape  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415

        from parity.artifacts import QUANTIZED  # noqa: PLC0415
        from parity.environment import conflicts_here, cuda  # noqa: PLC0415
        from parity.exporters import EXPORTERS, on_request  # noqa: PLC0415
        from parity.runtimes import RUNTIMES  # noqa: PLC0415
        from parity.targets import Target  # noqa: PLC0415

        exporters = Table("target", "makes", "judged by", "exporter", box=None, header_style="bold")
        for name in EXPORTERS:
            exporter = EXPORTERS.get(name)
            rule = "decisions" if exporter.precision in QUANTIZED else "floor"
            rule += ", on request" if on_request(exporter) else ""
            target = Target(name, exporter.runtime).name
            exporters.add_row(target, exporter.format, rule, escape(str(exporter.availability())))
        runtimes = Table("runtime", "reads", "version", box=None, header_style="bold")
        for name in RUNTIMES:
            runtime = RUNTIMES.get(name)
            runtimes.add_row(name, ", ".join(sorted(runtime.formats)), escape(str(runtime.availability())))
        shown = console()
        shown.print(exporters)
        shown.print()
        shown.print(runtimes)
        shown.print(f"\n cuda: {cuda()}", highlight=False)
        for warning in conflicts_here():
            shown.print(f" warning: {warning}", style="yellow", highlight=False, markup=False)


@app.command()
def explain(
    given: Annotated[Path, typer.Argument(metavar="REPORT", help="A report.json, or the folder that holds it.")],
    target: Annotated[str, typer.Argument(help="One of its targets.")],
) -> None:
    """Show everything that a report knows about one target."""
    with guarded():
        from parity.errors import UnknownName, did_you_mean  # noqa: PLC0415
        from parity.reports.reading import read_report, report_file  # noqa: PLC0415
        from parity.reports.terminal import print_record  # noqa: PLC0415

        path, made = report_file(given), read_report(given)
        known = [record.target for record in made.records]
        chosen = [name for name in known if target in (name, name.partition("@")[0])]
        if not chosen:
            names = {*known, *(name.partition("@")[0] for name in known)}
            raise UnknownName(f"the report has no target {target!r}", where=str(path), hint=did_you_mean(target, names))
        for name in chosen:
            print_record(made, made.record(name), console())


@app.command()
def init(folder: Annotated[Path, typer.Argument(help="The project's folder.")] = Path()) -> None:
    """Write a parity.toml and a suite to start from; nothing that exists is overwritten."""
    with guarded():
        from parity.scaffold import scaffold  # noqa: PLC0415

        for path in scaffold(folder):
            typer.echo(f"wrote {path}")


def main() -> None:
    """The `parity` command."""
    with exits():
        app()
