"""What parity costs on top of exporting, running and timing.

    python -m benchmarks.overhead [--repeat 3] [--json FILE]

Everything is measured on `examples/digits` with nothing cached: the wall time of `parity report`, less the
wall time of a plain script that makes the same exports and the same calls (`benchmarks/raw.py`), less the
seconds of bursts that the settings ask the timing stage for. Exit status 1 where what is left is more than
the larger of 15 % of those parts and 5 s. A second run then has to export nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from parity.samples.calls import BATCH_SIZES
from parity.settings import find_settings
from parity.targets import plan_targets

ROOT = Path(__file__).resolve().parents[1]
MODEL = "examples/digits/model.pt"
ALLOWED_SHARE = 0.15
ALLOWED_SECONDS = 5.0


@dataclass(frozen=True)
class Overhead:
    """Seconds of one repetition. `timing` is what the settings ask for: every target, and eager beside them."""

    parity: float
    cached: float
    exports: float
    inference: float
    timing: float

    @property
    def parts(self) -> float:
        """What would have to be done without parity too."""
        return self.exports + self.inference + self.timing

    @property
    def seconds(self) -> float:
        """What parity adds."""
        return self.parity - self.parts

    @property
    def allowed(self) -> float:
        """How much it may add."""
        return max(ALLOWED_SHARE * self.parts, ALLOWED_SECONDS)


def measure() -> Overhead:
    """One repetition: parity without a cache, the plain script, parity with everything cached."""
    with tempfile.TemporaryDirectory(prefix="parity-overhead-") as folder:
        cold = _report(Path(folder), expect_cached=False)
        raw = _raw()
        warm = _report(Path(folder), expect_cached=True)
    latency = find_settings(ROOT).latency
    timing = latency.seconds * (len(plan_targets(None)) + 1) * len(BATCH_SIZES)
    return Overhead(cold, warm, raw["exports"], raw["inference"], timing)


def _report(folder: Path, *, expect_cached: bool) -> float:
    out = folder / "report"
    start = time.perf_counter()
    _run(["-m", "parity", "report", MODEL, "--out", str(out)], cache=folder / "cache")
    seconds = time.perf_counter() - start
    records = json.loads((out / "report.json").read_text(encoding="utf-8"))["records"]
    wrong = [each["target"] for each in records if each.get("export", {}).get("cached") is not expect_cached]
    if wrong:
        sys.exit(f"not {'cached' if expect_cached else 'exported anew'}: {', '.join(wrong)}")
    return seconds


def _raw() -> dict[str, float]:
    start = time.perf_counter()
    seconds: dict[str, float] = json.loads(_run(["-m", "benchmarks.raw"], cache=None))
    # Starting the interpreter is part of what such a script costs.
    seconds["exports"] = time.perf_counter() - start - seconds["inference"]
    return seconds


def _run(words: list[str], cache: Path | None) -> str:
    environment = os.environ | ({"PARITY_CACHE": str(cache)} if cache else {})
    ran = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        sys.exit(f"{' '.join(words)} ended with status {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def _middle(found: list[Overhead]) -> Overhead:
    return sorted(found, key=lambda each: each.seconds)[len(found) // 2]


def _table(chosen: Overhead, found: list[Overhead]) -> Table:
    table = Table("", "s", title=f"median of {len(found)}", box=None, header_style="bold")
    rows = {
        "parity report, nothing cached": chosen.parity,
        "raw exports, imports included": chosen.exports,
        "raw inference": chosen.inference,
        "timing budget": chosen.timing,
        f"overhead, {chosen.seconds / chosen.parts:.1%}": chosen.seconds,
        f"allowed, the larger of {ALLOWED_SHARE:.0%} and {ALLOWED_SECONDS:g} s": chosen.allowed,
        "parity report, everything cached": median(each.cached for each in found),
    }
    for name, seconds in rows.items():
        table.add_row(name, f"{seconds:.2f}")
    table.add_row("overhead of each repetition", ", ".join(f"{each.seconds:.2f}" for each in found))
    return table


def main() -> int:
    """Measure, print, and say by the exit status whether it is within what is allowed."""
    parser = argparse.ArgumentParser(description="What parity costs on top of exporting, running and timing.")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    options = parser.parse_args()
    found = [measure() for _ in range(options.repeat)]
    chosen = _middle(found)
    Console().print(_table(chosen, found))
    if options.json is not None:
        figures = asdict(chosen) | {"overhead": chosen.seconds, "allowed": chosen.allowed}
        options.json.write_text(json.dumps(figures | {"repetitions": [asdict(each) for each in found]}, indent=2))
    return 0 if chosen.seconds <= chosen.allowed else 1


if __name__ == "__main__":
    sys.exit(main())
