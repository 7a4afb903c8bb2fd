"""What it costs to compare a target with its reference and its oracle, beside what users compare with today.

    python -m benchmarks.comparator [--repeat 7] [--quick] [--json FILE]

Two float32 arrays, target and eager reference, and their float64 oracle lie in memory: once as one output of 100
million numbers, once as 10,000 samples of 1,000. On the same arrays, in turn:

- `row_errors` finds everything that the floor rule reads: by sample RMS and maximum of target minus oracle, RMS and
  peak of the oracle, the largest difference to eager; the sums of squares for SQNR; and NaN or infinity out of place.
- A *plain read* is the least that NumPy can do with every byte of the three arrays: `np.max` over slices of 4 MB,
  one array after the other, with as many threads.
- `numpy.testing.assert_allclose` and `torch.testing.assert_close` hold target against reference, without the oracle.

Times are medians over the repeats, and a ratio is the median of the ratios within each repeat. The memory is how far
the peak of resident memory (VmHWM, reset before each) rises above what was resident. Exit status 1 where a comparison
is less than 10 times as fast as the faster of the two, takes more than 5 plain reads, or more than 64 MB.

Where numba can be used, comparing takes the loop that it compiles. What loading that costs, once in a process, is
printed before, and is not in the figures. `NUMBA_DISABLE_JIT=1` measures what there is without numba.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from rich.table import Table

from parity.compare import fused
from parity.compare.blocks import MOST_THREADS
from parity.compare.errors import row_errors
from parity.environment import cores, environment

FASTER = 10.0
READS = 5.0
MEMORY = 64e6
_SLICE = 1 << 20
_DRAWN = 10_000_000

OURS, READ, ALLCLOSE, CLOSE = "parity", "plain read", "numpy assert_allclose", "torch assert_close"

Narrow = npt.NDArray[np.float32]
Arrays = tuple[Narrow, Narrow, npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Taken:
    """Seconds of one call, and bytes that the peak of resident memory rose; None where the system does not tell."""

    seconds: float
    memory: int | None


@dataclass(frozen=True)
class Compared:
    """Repeats of every way to compare on the same arrays, interleaved."""

    shape: tuple[int, ...]
    taken: dict[str, list[Taken]]

    def seconds(self, name: str) -> float:
        """The median."""
        return median(each.seconds for each in self.taken[name])

    def ratio(self, name: str, other: str) -> float:
        """How many times as long as the other, as the median of the repeats."""
        pairs = zip(self.taken[name], self.taken[other], strict=True)
        return median(one.seconds / two.seconds for one, two in pairs)

    def memory(self, name: str) -> int | None:
        """The most that any repeat took besides the arrays."""
        found = [each.memory for each in self.taken[name] if each.memory is not None]
        return max(found, default=None)

    @property
    def faster(self) -> float:
        """How many times as fast as the faster of the two assertions."""
        return min(self.ratio(ALLCLOSE, OURS), self.ratio(CLOSE, OURS))

    @property
    def holds(self) -> bool:
        """Whether everything is within what is allowed."""
        return self.faster >= FASTER and self.ratio(OURS, READ) <= READS and (self.memory(OURS) or 0) <= MEMORY


def compare(shape: tuple[int, ...], repeat: int, threads: int) -> Compared:
    """Run every way in turn, `repeat` times after a round that does not count."""
    target, reference, oracle = arrays = _draw(shape)
    ours, theirs = torch.from_numpy(target), torch.from_numpy(reference)
    ways: dict[str, Callable[[], object]] = {
        READ: lambda: _read(arrays, threads),
        OURS: lambda: row_errors(target, reference, oracle, batched=len(shape) > 1),
        ALLCLOSE: lambda: np.testing.assert_allclose(target, reference, rtol=1e-5, atol=1e-5),
        CLOSE: lambda: torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5),
    }
    taken: dict[str, list[Taken]] = {name: [] for name in ways}
    for number in range(repeat + 1):
        for name, way in ways.items():
            found = _take(way)
            if number:
                taken[name].append(found)
    return Compared(shape, taken)


def _draw(shape: tuple[int, ...]) -> Arrays:
    """Standard normal numbers, and what two float32 computations a few roundings off would have returned."""
    rng = np.random.default_rng(0)
    oracle = np.empty(math.prod(shape))
    target, reference = np.empty(oracle.shape, np.float32), np.empty(oracle.shape, np.float32)
    unit = float(np.finfo(np.float32).eps) / 2
    for start in range(0, oracle.size, _DRAWN):
        part = slice(start, start + _DRAWN)
        rng.standard_normal(out=oracle[part])
        for rounded in (target, reference):
            rounded[part] = oracle[part] * (1 + 3 * unit * rng.uniform(-1, 1, oracle[part].size))
    return target.reshape(shape), reference.reshape(shape), oracle.reshape(shape)


def _read(arrays: Arrays, threads: int) -> None:
    for array in (each.reshape(-1) for each in arrays):
        slices = [array[start : start + _SLICE] for start in range(0, array.size, _SLICE)]
        with ThreadPoolExecutor(max_workers=threads) as pool:
            list(pool.map(np.maximum.reduce, slices))


def _take(way: Callable[[], object]) -> Taken:
    before = _reset_peak()
    start = time.perf_counter()
    way()
    seconds = time.perf_counter() - start
    peak = _status("VmHWM")
    return Taken(seconds, None if before is None or peak is None else max(peak - before, 0))


def _reset_peak() -> int | None:
    """Let the peak count from here, and return what is resident now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    return None


def _status(field: str) -> int | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    return None


def _table(found: Compared) -> Table:
    bytes_ = math.prod(found.shape) * (4 + 4 + 8)
    repeats = len(found.taken[OURS])
    title = f"{list(found.shape)}, {bytes_ / 1e9:.2f} GB, median of {repeats}"
    table = Table("", "ms", "/ parity", "/ plain read", "extra MB", title=title, box=None, header_style="bold")
    for name in (OURS, READ, ALLCLOSE, CLOSE):
        memory = found.memory(name)
        table.add_row(
            name,
            f"{1e3 * found.seconds(name):.1f}",
            f"{found.ratio(name, OURS):.2f}",
            f"{found.ratio(name, READ):.2f}",
            "n/a" if memory is None else f"{memory / 1e6:.0f}",
        )
    table.add_row("allowed for parity", "", f"1 / {FASTER:g} of the faster", f"{READS:g}", f"{MEMORY / 1e6:g}")
    return table


def main() -> int:
    """Measure, print, and say by the exit status whether it is within what is allowed."""
    parser = argparse.ArgumentParser(description="What it costs to compare a target with its reference and oracle.")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="a tenth of the numbers and 3 repeats")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    options = parser.parse_args()
    threads = min(cores(), MOST_THREADS)
    torch.set_num_threads(threads)
    repeat, size = (3, 10_000_000) if options.quick else (options.repeat, 100_000_000)
    console = Console()
    console.print(f"{threads} threads on {cores()} cores; numpy {np.__version__}, torch {torch.__version__}")
    console.print(_loading())
    results = []
    for shape in ((size,), (10_000, 1_000)):
        results.append(compare(shape, repeat, threads))
        console.print(_table(results[-1]))
    if options.json is not None:
        options.json.write_text(json.dumps([_figures(each) for each in results], indent=2))
    return 0 if all(each.holds for each in results) else 1


def _loading() -> str:
    compiled = []
    taken = _take(lambda: compiled.append(fused.load("float32")))
    if compiled == [None]:
        return "the loop in numba cannot be used: comparing stays in NumPy"
    memory = "n/a" if taken.memory is None else f"{taken.memory / 1e6:.0f} MB"
    return (
        f"the loop in numba {environment(threads=1)['versions']['numba']} was loaded in {taken.seconds:.2f} s, {memory}"
    )


def _figures(found: Compared) -> dict[str, object]:
    return {
        "shape": found.shape,
        "faster": found.faster,
        "reads": found.ratio(OURS, READ),
        "seconds": {name: [each.seconds for each in taken] for name, taken in found.taken.items()},
        "memory": {name: found.memory(name) for name in found.taken},
    }


if __name__ == "__main__":
    sys.exit(main())
