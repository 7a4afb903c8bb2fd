"""What is known of the model, its samples and its reference, whatever the target."""

from __future__ import annotations

from dataclasses import dataclass

from parity.records.latency import LatencyMeasurement, StartupFacts, SweepFacts

DECISIONS = ("classes", "binary", "segmentation", "detection", "embedding", "tokens", "none")
"""What users may act on in an output; `none` where it is numbers alone."""

LABELS = "labels: "
"""What a note of the reference begins with that says why labels say nothing of its outputs."""


@dataclass(frozen=True, kw_only=True)
class OutputFacts:
    """One output of the reference: dtype, shape of one call, and whether its first axis is the batch.

    `decision` is the kind of decision that it stands for, one of `DECISIONS`, and `decision_from` how that is
    known: `given`, or inferred from its `names`, `shapes` or `values`.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    batched: bool
    decision: str | None = None
    decision_from: str | None = None


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
    """Where the held-out samples came from, how many there are, and their digest.

    `notes` say which sizes the signature allows and the sweep leaves out.
    """

    source: str
    n: int
    sha256: str
    labelled: bool = False
    synthetic: bool = False
    calibration_source: str | None = None
    calibration_n: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Hazard:
    """Something in `forward` that exports are known to get wrong. It is advice, and no gate looks at it.

    `where` is the file and line, relative to the project's folder, `line` its text, and `module` the path of
    the submodule within the model; both are absent where they are not known. `what` goes on from them: "reads a
    tensor's value into Python". `affects` names the exporters that do something else there, `count` how
    often it happened in one call.
    """

    kind: str
    where: str
    what: str
    affects: tuple[str, ...]
    line: str | None = None
    module: str | None = None
    count: int = 1


@dataclass(frozen=True, kw_only=True)
class ReferenceFacts:
    """The eager reference: its oracle, its own noise, and what makes it hard to judge by.

    `oracle` is `float64`, or `reordering` where float64 could not run (`oracle_reason` says why).
    `longest_reduction` is the number of terms in the longest sum seen in the eager pass. `unstable`
    says why nothing can be judged: two runs of the reference on the same input differ. `hazards` are what
    one eager pass showed of what exports get wrong.
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
    startup: tuple[StartupFacts, ...] = ()
    sweep: tuple[SweepFacts, ...] = ()
    hazards: tuple[Hazard, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MachineFacts:
    """What the machine did while something was timed; what it does not tell is absent, and no gate looks at it.

    `seconds` is how long that was and `load` the 1-minute load average at its end. `cores` counts the processors that
    the process may use, which the shares are of: `steal_share` is the part of their time that a hypervisor gave to
    others, `other_share` the part that processes other than parity's own used. `frequency_mhz_low` and
    `frequency_mhz_high` are the clocks, in MHz, of the fastest of them at the start and at the end, `governor` what
    steers that. `throttled` counts the times that heat slowed a processor down, of the one that it slowed most often.
    `throttled_periods` counts the periods in which a control group (a container) had used up its quota, and
    `throttled_seconds` is how long its threads were held back for it, summed over processors.
    """

    seconds: float
    cores: int | None = None
    load: float | None = None
    steal_share: float | None = None
    other_share: float | None = None
    frequency_mhz_low: float | None = None
    frequency_mhz_high: float | None = None
    governor: str | None = None
    throttled: int | None = None
    throttled_periods: int | None = None
    throttled_seconds: float | None = None
