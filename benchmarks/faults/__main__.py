"""Plant faults into exported graphs and count what the numeric gate finds, beside the fixed rules of other tools.

    python -m benchmarks.faults [--quick | --archs NAME,...] [--jobs N] [--resume FILE] [--json FILE]

Every network is exported in several ways, and each export that nothing was done to has to pass. Then one fault
after the other is edited into its ONNX graph; one that moves the outputs by more than 1e-5, relative, has to fail.
Exit status 1 where the gate finds less than 99 % of them, raises a false alarm or leaves a healthy export open, or
where a network could not be run.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.faults.architectures import ARCHITECTURES, QUICK
from benchmarks.faults.results import NetworkResult, keep, kept, versions
from benchmarks.faults.summary import Summary, summarise
from benchmarks.faults.tables import tables
from benchmarks.faults.work import run_network, short
from parity.environment import cores

REQUIRED_SHARE = 0.99


def main() -> int:
    """Run what is not there yet, print the tables, and say by the exit status whether the claim holds."""
    options = _options()
    names = QUICK if options.quick else tuple(options.archs or (each.name for each in ARCHITECTURES))
    results = _run(names, options.jobs, options.resume)
    summary = summarise(results)
    console = Console()
    for table in tables(summary, results):
        console.print(table)
        console.print()
    if options.json is not None:
        options.json.write_text(json.dumps(_figures(summary, results), indent=1), encoding="utf-8")
    gate = summary.rules[0]
    held = gate.share >= REQUIRED_SHARE and not gate.alarms and not summary.undecided
    return 0 if held and len(results) == len(names) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plant faults into exported graphs and count what is found.")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--archs", type=_names, default=None, metavar="NAME,...", help="only these networks")
    parser.add_argument("--jobs", type=int, default=min(cores(), 2), help="networks at a time, one thread each")
    parser.add_argument("--resume", type=Path, default=None, metavar="FILE",
                        help="keep finished networks here, and leave out those that it holds already")  # fmt: skip
    parser.add_argument("--json", type=Path, default=None, metavar="FILE", help="write every figure here")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names, known = text.split(","), [each.name for each in ARCHITECTURES]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"no network is called {unknown[0]!r}; there are {', '.join(known)}")
    return names


def _run(names: Sequence[str], jobs: int, resume: Path | None) -> list[NetworkResult]:
    done = {name: each for name, each in (kept(resume) if resume else {}).items() if name in names}
    waiting = [name for name in names if name not in done]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, console=Console(stderr=True)) as progress,
        ThreadPoolExecutor(max_workers=max(jobs, 1)) as pool,
    ):
        bar = progress.add_task("networks", total=len(names), completed=len(done))
        for future in as_completed([pool.submit(_apart, name) for name in waiting]):
            try:
                result = future.result()
            except Exception as error:  # noqa: BLE001  # the other networks are finished, and kept, all the same
                progress.console.print(f"failed: {short(error)}")
                continue
            done[result.network] = result
            if resume is not None:
                keep(resume, result)
            progress.console.print(f"{result.network}: {len(result.faults)} faults, {result.seconds:.0f} s")
            progress.advance(bar)
    return [done[name] for name in names if name in done]


def _apart(name: str) -> NetworkResult:
    """One network in a process of its own: what it leaves behind, or its end, is not the next one's."""
    context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(run_network, name).result()


def _figures(summary: Summary, results: Sequence[NetworkResult]) -> dict[str, Any]:
    return {"versions": versions(), "summary": asdict(summary), "networks": [asdict(each) for each in results]}


if __name__ == "__main__":
    sys.exit(main())
