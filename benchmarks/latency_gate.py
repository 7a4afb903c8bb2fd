"""How often the latency gate is right, and what that costs.

    python -m benchmarks.latency_gate [--comparisons 300] [--slowed 102] [--ours-only] [--json FILE]

Three exports of `examples/digits` at batch 8 are compared with goldens of themselves (A/A), in every other comparison
while another process keeps a core busy, and with a slowdown of 5, 10 and 20 % planted in each of their calls (A/B).
Each comparison starts fresh processes and stops when the gate has decided at 1.05 and at 1.10, or after 2.5 s of a
target's bursts and as much of eager's. The same is then asked of pytest-benchmark's
`--benchmark-compare-fail=median:5%` and of a Mann-Whitney test, on two separate runs of 1 s each. Last, whole reports
tell how much of their timing stage goes into bursts.

Exit status 1 where more than 1 % of the A/A comparisons fail, less than 99 % of the 20 % slowdowns or less than 95 % of
the 10 % ones are found at the limit 1.05, or bursts are less than 80 % of the timing stage.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.gate.others import Said, compare, run_alone
from benchmarks.gate.ours import LIMITS, Trial, baselines, trials
from benchmarks.gate.subjects import TARGETS, Subjects, loaded_core, subjects
from parity.api import report
from parity.records import Verdict

SLOWDOWNS = (0.05, 0.10, 0.20)
GOLDENS = 4
"""Goldens that comparisons take turns with: the error of one would be in all of them."""

REPORTS = ("digits", "bilstm_tagger", "resnet18")
"""Models with calls of 0.2 ms, of 0.1 ms, and of up to a second, whose whole timing stage is looked at."""

ALLOWED_ALARMS = 0.01
LEAST_FOUND = {0.20: 0.99, 0.10: 0.95}
LEAST_IN_BURSTS = 0.80
AT = LIMITS[0]
WIDTH = 120
"""Columns that the table takes, in a file as well."""


@dataclass(frozen=True)
class Counts:
    """How one way of comparing did on one kind of comparison."""

    judge: str
    slowdown: float
    loaded: bool
    n: int
    failed: int
    undecided: int = 0
    seconds: float = 0.0


def main() -> int:
    """Run everything; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--comparisons", type=int, default=300, help="A/A comparisons, over all targets")
    parser.add_argument("--slowed", type=int, default=102, help="A/B comparisons of each slowdown, over all targets")
    parser.add_argument("--ours-only", action="store_true", help="leave out the two other ways of comparing")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with subjects() as made:
        found = gate(made, options.comparisons, options.slowed)
        counts = count_trials(found)
        if not options.ours_only:
            counts += others(made, options.comparisons, options.slowed)
    shares = {name: in_bursts(name) for name in REPORTS}
    console = Console(width=max(Console().width, WIDTH))
    console.print(table(counts))
    for name, share in shares.items():
        console.print(f"{name}: {share:.0%} of the timing stage went into bursts, {LEAST_IN_BURSTS:.0%} are asked for")
    if options.json:
        trial_facts = [asdict(each) for each in found]
        facts = {"counts": [asdict(each) for each in counts], "trials": trial_facts, "in_bursts": shares}
        options.json.write_text(json.dumps(facts, indent=1, default=str))
    return 0 if holds(counts) and min(shares.values()) >= LEAST_IN_BURSTS else 1


def gate(made: Subjects, comparisons: int, slowed: int) -> list[Trial]:
    """Every comparison by the gate, with and without a loaded core in turn."""
    goldens = itertools.cycle([baselines(made) for _ in track(range(GOLDENS), "goldens")])
    plan = [(0.0, loaded) for loaded in _turns(comparisons)]
    plan += [(slowdown, loaded) for slowdown in SLOWDOWNS for loaded in _turns(slowed)]
    found: list[Trial] = []
    for slowdown, loaded in track(plan, "the gate"):
        with loaded_core(on=loaded):
            found += trials(made, next(goldens), slowdown=slowdown, loaded=loaded)[0]
    return found


def _turns(comparisons: int) -> list[bool]:
    return [bool(at % 2) for at in range(-(-comparisons // len(TARGETS)))]


def count_trials(found: Sequence[Trial]) -> list[Counts]:
    """The gate's answers by limit, slowdown and load."""
    counts = []
    for slowdown, loaded, limit in itertools.product((0.0, *SLOWDOWNS), (False, True), LIMITS):
        own = [each for each in found if each.slowdown == slowdown and each.loaded is loaded]
        if not own:
            continue
        said = [each.verdicts[limit] for each in own]
        counts.append(
            Counts(
                judge=f"parity, limit {limit}",
                slowdown=slowdown,
                loaded=loaded,
                n=len(own),
                failed=said.count(Verdict.FAIL),
                undecided=said.count(Verdict.INCONCLUSIVE),
                seconds=float(np.median([each.seconds[limit] for each in own])),
            )
        )
    return counts


def others(made: Subjects, comparisons: int, slowed: int) -> list[Counts]:
    """As many comparisons of two separate runs each; the earlier one is drawn from all that an idle machine made."""
    found: list[Counts] = []
    earlier = {name: [run_alone(made, task)] for name, task in made.targets.items()}
    draw = random.Random(0)  # noqa: S311  # which run, not a secret
    for slowdown, number in ((0.0, comparisons), *((each, slowed) for each in SLOWDOWNS)):
        said: dict[bool, list[Said]] = {False: [], True: []}
        for loaded in track(_turns(number), f"two runs, {slowdown:.0%} slower"):
            for name, task in made.slowed(slowdown).items():
                with loaded_core(on=loaded):
                    later = run_alone(made, task)
                said[loaded].append(compare(draw.choice(earlier[name]), later))
                if not slowdown and not loaded:
                    earlier[name].append(later)
        for loaded, answers in said.items():
            found += _counted(answers, slowdown, loaded=loaded)
    return found


def _counted(answers: Sequence[Said], slowdown: float, *, loaded: bool) -> Iterable[Counts]:
    alarms = {
        "pytest-benchmark, median:5%": [each.pytest_benchmark for each in answers],
        "Mann-Whitney, p < 0.05": [each.mann_whitney for each in answers],
    }
    for judge, raised in alarms.items():
        if raised:
            yield Counts(judge, slowdown, loaded, len(raised), sum(raised))


def in_bursts(name: str) -> float:
    """Share of the timing stage of a whole report, every target at every batch size, that is spent in bursts."""
    with tempfile.TemporaryDirectory(prefix="parity-gate-") as folder:
        timing = report(name, out=folder).timing
    if timing is None:
        raise RuntimeError(f"{name} was not timed")
    return timing.burst_seconds / timing.seconds


def holds(counts: Sequence[Counts]) -> bool:
    """Whether the gate keeps what it promises."""
    ours = [each for each in counts if each.judge.startswith("parity")]
    same = [each for each in ours if each.slowdown == 0]
    few_alarms = all(
        sum(each.failed for each in same if each.judge.endswith(str(limit)))
        <= ALLOWED_ALARMS * sum(each.n for each in same if each.judge.endswith(str(limit)))
        for limit in LIMITS
    )
    finds = all(
        sum(each.failed for each in own) >= least * sum(each.n for each in own)
        for slowdown, least in LEAST_FOUND.items()
        if (own := [each for each in ours if each.slowdown == slowdown and each.judge.endswith(str(AT))])
    )
    return few_alarms and finds


def table(counts: Sequence[Counts]) -> Table:
    """One row for each way of comparing and each kind of comparison."""
    shown = Table("judged by", "slower by", "other load", "comparisons", "failed", "undecided", "s of bursts")
    for each in counts:
        shown.add_row(
            each.judge,
            f"{each.slowdown:.0%}" if each.slowdown else "nothing",
            "a busy core" if each.loaded else "none",
            str(each.n),
            f"{each.failed} ({each.failed / each.n:.1%})",
            str(each.undecided),
            f"{each.seconds:.1f}" if each.seconds else "",
        )
    return shown


if __name__ == "__main__":
    sys.exit(main())
