"""How much memory a held-out set takes, by the number of its samples.

    python -m benchmarks.many_samples [--counts 500 10000] [--kind npz|npz-compressed|npy] [--json FILE]

The pipeline's own stages (load, reference, export, run, compare) judge a small convolutional model on samples of
`float32[3, 64, 64]`, 49 kB each, with 2,048 output numbers each, that lie in one file. Each count runs in a process of
its own, with the children that parity starts. What is measured is *anonymous* memory, RssAnon in `/proc`: what a
process has written and the system cannot drop. Pages of memory-mapped files are not in it: they are the system's cache,
which it takes back when somebody needs the room. A thread reads it every 10 ms in every process, so that a peak that
is shorter can be missed. What children share with the process they were forked from counts in each of them.

Exit status 1 where any stage takes more than 1 kB more for each further sample.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = 1024
"""Bytes a sample: its place, digest and shape in Python's objects, and its errors in NumPy's."""

_SHAPE = (3, 64, 64)
_TARGETS = ("trace", "onnx")
_KINDS = ("npz", "npz-compressed", "npy")
_PART = 16

Peaks = dict[str, dict[str, int]]
"""Bytes by stage, of the process that asks (`parity`) and of the largest child."""


def model() -> object:
    """A few convolutions with weights from a seed; torch is loaded where this is called and nowhere else."""
    import torch  # noqa: PLC0415  # the process that measures needs none
    from torch import nn  # noqa: PLC0415

    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 8, 5, stride=2, padding=2), nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.Flatten(),
    )  # fmt: skip


def write(folder: Path, count: int, kind: str) -> Path:
    """A file of `count` samples, written in parts so that this process does not need room for them."""
    path = folder / "samples.npy"
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(count, *_SHAPE))
    rng = np.random.default_rng(0)
    for start in range(0, count, _PART):
        part = array[start : start + _PART]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
    array.flush()
    del array
    if kind == "npy":
        return path
    import zipfile  # noqa: PLC0415  # beside its only use

    packed = folder / "samples.npz"
    method = zipfile.ZIP_DEFLATED if kind == "npz-compressed" else zipfile.ZIP_STORED
    with zipfile.ZipFile(packed, "w", method, compresslevel=1) as archive:
        archive.write(path, "image.npy")
    path.unlink()
    return packed


class Watch:
    """Follows the anonymous memory of this process and its descendants, by the stage that is set."""

    def __init__(self) -> None:
        self.peaks: Peaks = {}
        self.stage = "start"

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Watch until the block is left."""
        over = threading.Event()

        def follow() -> None:
            while not over.wait(0.01):
                self._look()

        thread = threading.Thread(target=follow)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _look(self) -> None:
        stage, own = self.stage, _Process("self")
        seen = self.peaks.setdefault(stage, {"parity": 0, "child": 0})
        seen["parity"] = max(seen["parity"], own.anonymous())
        seen["child"] = max([seen["child"], *(each.anonymous() for each in own.descendants())])


class _Process:
    def __init__(self, number: str) -> None:
        self._folder = Path("/proc") / number

    def anonymous(self) -> int:
        with contextlib.suppress(OSError):
            for line in (self._folder / "status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) * 1024
        return 0

    def descendants(self) -> Iterator[_Process]:
        with contextlib.suppress(OSError):
            for task in (self._folder / "task").iterdir():
                for number in (task / "children").read_text().split():
                    child = _Process(number)
                    yield child
                    yield from child.descendants()


def measure(samples: str) -> Peaks:
    """Judge the model on the samples of a file, one stage after the other."""
    from parity.cache import ArtifactCache  # noqa: PLC0415  # the process that starts these needs none
    from parity.models.signature import parse_signature  # noqa: PLC0415
    from parity.models.spec import ModelSpec  # noqa: PLC0415
    from parity.records import Stage  # noqa: PLC0415
    from parity.settings import TimeoutSettings  # noqa: PLC0415
    from parity.targets import parse_target  # noqa: PLC0415
    from parity.workbench import Workbench  # noqa: PLC0415
    from parity.workers.process import Children  # noqa: PLC0415

    watch = Watch()
    with tempfile.TemporaryDirectory(prefix="parity-many-") as text, Children() as children:
        folder = Path(text)
        spec = ModelSpec(
            name="many", factory=f"{Path(__file__)}:model", signature=parse_signature("image: float32[N, 3, 64, 64]"),
            root=ROOT, samples=samples,
        )  # fmt: skip
        bench = Workbench(
            spec=spec, folder=folder / "run", artifacts=folder / "artifacts", cache=ArtifactCache(folder / "cache"),
            children=children, timeouts=TimeoutSettings(load=3600, export=3600, run=3600),
        )  # fmt: skip
        with watch.running():
            for stage, made in (("load", bench.loaded), ("reference, floor", bench.reference)):
                watch.stage = stage
                made()
            for target in map(parse_target, _TARGETS):
                watch.stage = f"export {target.exporter}"
                bench.exported(target.exporter)
                watch.stage = f"run, compare {target.name}"
                record = bench.judged(target).record
                if record.stage is not Stage.DONE:
                    sys.exit(f"{target.name} ended at {record.stage}: {record.message}")
    return watch.peaks


def _table(found: dict[int, Peaks], seconds: dict[int, float], kind: str) -> Table:
    least = min(found)
    title = f"largest anonymous memory, MB; samples of {4 * np.prod(_SHAPE) / 1e3:.0f} kB in a .{kind}"
    table = Table("stage", "process", title=title, box=None, header_style="bold")
    for count in found:
        table.add_column(f"{count:,}", justify="right")
    table.add_column(f"bytes for each sample over {least:,}", justify="right")
    for stage in found[least]:
        for process in ("parity", "child"):
            values = [peaks[stage][process] for peaks in found.values()]
            more = _growth(found, stage, process)
            table.add_row(stage, process, *(f"{value / 1e6:.1f}" for value in values), f"{more:.0f}")
    table.add_row("samples", "", *(f"{count * 4 * np.prod(_SHAPE) / 1e6:.0f}" for count in found), "")
    table.add_row("seconds", "", *(f"{seconds[count]:.0f}" for count in found), f"allowed {ALLOWED}")
    return table


def _growth(found: dict[int, Peaks], stage: str, process: str) -> float:
    least, most = min(found), max(found)
    more = found[most][stage][process] - found[least][stage][process]
    return more / max(most - least, 1)


def main() -> int:
    """Measure, print, and say by the exit status whether it is within what is allowed."""
    parser = argparse.ArgumentParser(description="How much memory a held-out set takes, by the number of its samples.")
    parser.add_argument("--counts", type=int, nargs="+", default=[500, 10_000])
    parser.add_argument("--kind", choices=_KINDS, default="npz")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    parser.add_argument("--measure", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        json.dump(measure(options.measure), sys.stdout)
        return 0
    found: dict[int, Peaks] = {}
    seconds: dict[int, float] = {}
    for count in sorted(options.counts):
        start = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="parity-samples-") as folder:
            path = str(write(Path(folder), count, options.kind))
            words = [sys.executable, "-m", "benchmarks.many_samples", "--measure", path]
            ran = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        found[count], seconds[count] = json.loads(ran.stdout), time.perf_counter() - start
    Console().print(_table(found, seconds, options.kind))
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=2))
    worst = max(_growth(found, stage, process) for stage in found[min(found)] for process in ("parity", "child"))
    return 0 if worst <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
