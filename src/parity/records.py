"""The frozen records that pass between stages, and that `report.json` is written from.

A finding is one measured fact and has no opinion; a result is a finding together with the limit and
the verdict that a gate gave it. This module imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

SCHEMA = "parity-report/1"
"""The schema of `report.json`. Fields may be added under it; a renamed one needs another number."""


class Verdict(str, Enum):
    """What a gate decided. `inconclusive` is never `pass`."""

    PASS = "pass"  # noqa: S105  # a verdict, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    SKIP = "skip"

    def __str__(self) -> str:
        return self.value


class Stage(str, Enum):
    """Where in its life a cell ended."""

    LOAD = "load"
    EXPORT = "export"
    OPEN = "open"
    RUN = "run"
    COMPARE = "compare"
    TIME = "time"
    DONE = "done"

    def __str__(self) -> str:
        return self.value


class Symptom(str, Enum):
    """How a cell ended."""

    OK = "ok"
    MISMATCH = "mismatch"
    EXCEPTION = "exception"
    CRASH = "crash"
    TIMEOUT = "timeout"
    UNSUPPORTED = "unsupported"
    UNAVAILABLE = "unavailable"

    def __str__(self) -> str:
        return self.value


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of the whole from the verdicts of its parts.

    One `fail` fails and one `inconclusive` leaves it open. Skipped parts do not count, but where every
    part was skipped there is nothing that passed, and the whole is a `skip`.
    """
    seen = set(verdicts)
    for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS):
        if verdict in seen:
            return verdict
    return Verdict.SKIP


@dataclass(frozen=True, kw_only=True)
class NumericFinding:
    """How one output of a target differs from the reference, over all held-out samples.

    `rule` names what was measured: `floor` (float outputs against the float64 oracle), `reordering`
    (float outputs where no oracle could be had), `exact` (integers, booleans), `sqnr` (float outputs of a
    quantized target), or the structural disagreement that leaves nothing to measure: `missing`, `extra`,
    `dtype`, `shape`, `nonfinite`.
    `error`, `floor` and `allowance` are relative and belong to the measure named by `measure`, the one
    with the largest ratio. `max_abs` is the largest absolute difference to the eager reference.
    """

    output: str
    rule: str
    error: float | None = None
    floor: float | None = None
    ratio: float | None = None
    allowance: float | None = None
    measure: str | None = None
    max_abs: float | None = None
    worst_sample: int | None = None
    mismatched: int | None = None
    n: int | None = None
    sqnr_db: float | None = None
    constant: bool | None = None
    detail: str | None = None


@dataclass(frozen=True, kw_only=True)
class NumericResult(NumericFinding):
    """A numeric finding with the limit on its ratio and the verdict."""

    verdict: Verdict
    limit: float | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class DecisionFinding:
    """A metric of what users act on, over `n` decisions.

    `low` and `high` bound `value` with 95 % confidence. `flips` are decisions that changed by more
    than arithmetic noise explains, `ties` are those that changed within it.
    """

    output: str
    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    reference: float | None = None
    flips: int | None = None
    ties: int | None = None
    n: int | None = None


@dataclass(frozen=True, kw_only=True)
class DecisionResult(DecisionFinding):
    """A decision finding with its limit and verdict; both absent where it is information only."""

    verdict: Verdict | None = None
    limit: float | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShapeFinding:
    """One batch size of the sweep: what happened there, and its worst output as a numeric finding has it."""

    batch: int
    symptom: Symptom
    output: str | None = None
    error: float | None = None
    ratio: float | None = None
    allowance: float | None = None
    detail: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShapeResult(ShapeFinding):
    """A shape finding with its verdict."""

    verdict: Verdict
    limit: float | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class LatencyMeasurement:
    """Times of one call at one batch size, in milliseconds; the ratio is to eager in the same run.

    `n` counts bursts, `processes` the fresh processes that they come from. `ratio_low` and
    `ratio_high` bound the ratio with 95 % confidence.
    """

    batch: int
    threads: int
    median_ms: float
    throughput: float
    n: int
    processes: int
    p90_ms: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None


@dataclass(frozen=True, kw_only=True)
class LatencyResult(LatencyMeasurement):
    """A measurement held against the golden's ratio for this class of machine."""

    verdict: Verdict
    baseline: float | None = None
    limit: float | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class GoldenFinding:
    """One thing held against the golden.

    `kind` says what `name` names: an `output` of the reference, a `target`, or what has moved since the
    golden was recorded: `model` (`weights`, `code`), `data` (`samples`), `toolchain` (a package, or the
    `machine`). Kind `reference` says in `detail` why nothing could be compared.

    An output has `numeric`: the golden's outputs stand for a target's, today's oracle and floor are what
    they are held against, and `worst_sample` counts today's samples. A target has its worst error ratio
    and its agreement of today and of the golden. What moved has both states as text, and data `n`, the
    number of kept samples that are still there, `of` how many.
    """

    kind: str
    name: str
    numeric: NumericFinding | None = None
    ratio: float | None = None
    golden_ratio: float | None = None
    agreement: float | None = None
    golden_agreement: float | None = None
    today: str | None = None
    golden: str | None = None
    n: int | None = None
    of: int | None = None
    detail: str | None = None


@dataclass(frozen=True, kw_only=True)
class GoldenResult(GoldenFinding):
    """A golden finding in words, with its limit and verdict; no verdict where it is information only."""

    message: str
    verdict: Verdict | None = None
    limit: float | None = None
    moved: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ExportFacts:
    """What an exporter made: seconds it took, size and digest of every file together."""

    seconds: float
    bytes: int
    sha256: str
    cached: bool
    path: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MemoryFacts:
    """Highest resident memory of the process that ran the target, above what it started with."""

    peak_bytes: int


@dataclass(frozen=True, kw_only=True)
class Record:
    """One cell: one model at one target, and everything that was learnt about it."""

    target: str
    verdict: Verdict
    stage: Stage
    symptom: Symptom
    message: str = ""
    precision: str | None = None
    log: str | None = None
    export: ExportFacts | None = None
    numeric: tuple[NumericResult, ...] = ()
    decisions: tuple[DecisionResult, ...] = ()
    shapes: tuple[ShapeResult, ...] = ()
    latency: tuple[LatencyResult, ...] = ()
    memory: MemoryFacts | None = None
    runtime: dict[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class OutputFacts:
    """One output of the reference: dtype, shape of one call, and whether its first axis is the batch."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    batched: bool


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """The model as it was built: digests of weights and code, size, signature."""

    name: str
    source: str
    weights_sha256: str
    code_sha256: str
    parameters: int
    inputs: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SampleFacts:
    """Where the held-out samples came from, how many there are, and their digest."""

    source: str
    n: int
    sha256: str
    labelled: bool = False
    synthetic: bool = False
    calibration_source: str | None = None
    calibration_n: int | None = None


@dataclass(frozen=True, kw_only=True)
class ReferenceFacts:
    """The eager reference: its oracle, its own noise, and what makes it hard to judge by.

    `oracle` is `float64`, or `reordering` where float64 could not run (`oracle_reason` says why).
    `longest_reduction` is the number of terms in the longest sum seen in the eager pass. `unstable`
    says why nothing can be judged: two runs of the reference on the same input differ.
    """

    oracle: str
    outputs: tuple[OutputFacts, ...]
    longest_reduction: int
    jittered_copies: int
    seconds: float
    threads: int
    oracle_reason: str | None = None
    unstable: str | None = None
    notes: tuple[str, ...] = ()
    latency: tuple[LatencyMeasurement, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Report:
    """One run of `parity report`."""

    schema: str
    parity: str
    created: str
    environment: dict[str, Any]
    model: ModelFacts
    samples: SampleFacts
    reference: ReferenceFacts
    records: tuple[Record, ...]
    verdict: Verdict
    message: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    golden: tuple[GoldenResult, ...] = ()

    def record(self, target: str) -> Record:
        """The record of one target; raises KeyError where it was not planned."""
        for record in self.records:
            if record.target == target:
                return record
        raise KeyError(target)


def told(result: NumericResult | DecisionResult | ShapeResult | LatencyResult) -> str:
    """A result's message with the batch size that it belongs to; empty where it has nothing to say."""
    if not result.message:
        return ""
    batch = getattr(result, "batch", None)
    return result.message if batch is None else f"batch {batch}: {result.message}"


EXIT_STATUS = {Verdict.PASS: 0, Verdict.FAIL: 1, Verdict.INCONCLUSIVE: 3, Verdict.SKIP: 3}
"""Exit status of the command line by the report's verdict; 2 is a request that is itself wrong."""
