"""Record today's state as what is approved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from parity.environment import machine_class
from parity.errors import GoldenError
from parity.golden.evidence import Bench, Evidence
from parity.golden.files import exists, place, read_facts, write_golden
from parity.golden.kept import keep
from parity.golden.ratios import approvable, latency_ratios, worst_agreement, worst_ratio
from parity.golden.record import Golden, LatencyRatio
from parity.records import Record, Report
from parity.storage import full

Latency = Mapping[str, Mapping[str, Mapping[str, LatencyRatio]]]


def record_golden(report: Report, bench: Bench, folder: Path, *, accept: bool = False) -> Golden:
    """Write the golden of `report`'s model to `folder`.

    A target that failed is absent from it, and so is what was not timed. Latency that was recorded on
    other classes of machine stays; that of this class is replaced where something was timed today.

    Args:
        report: What is approved.
        bench: The bench that the report was made on.
        folder: The model's own folder, `golden/NAME`.
        accept: Whether a golden that is there already may be replaced.

    Raises:
        GoldenError: the reference is unstable, there is a golden and `accept` is not given, or the one
            that is there is damaged or of another model.
        StorageError: it cannot be written; the one that is there stays as it is.
    """
    evidence = bench.evidence()
    name = evidence.model.name
    if evidence.reference.unstable:
        raise GoldenError(
            f"no golden of {name} can be recorded: the reference is not deterministic",
            where=name,
            got=evidence.reference.unstable,
            hint="make the model deterministic in eval mode: seed it, or keep no state between calls",
        )
    check_recordable(folder, name, accept=accept)
    kept = keep(evidence)
    good = [record for record in report.records if approvable(record)]
    golden = Golden(
        name=name,
        weights_sha256=evidence.model.weights_sha256,
        code_sha256=evidence.model.code_sha256,
        samples_sha256=evidence.samples.sha256,
        samples_n=evidence.samples.n,
        kept=kept.samples,
        kept_digests=tuple(evidence.digests[sample] for sample in kept.samples),
        outputs=kept.dtypes,
        unkept=kept.unkept,
        subset=kept.subset,
        machine=evidence.machine,
        ratios={each.target: ratio for each in good if (ratio := worst_ratio(each)) is not None},
        agreement={each.target: share for each in good if (share := worst_agreement(each)) is not None},
        latency=_latency(_known_latency(folder, name), evidence, good),
        versions=dict(evidence.toolchain),
        tensors=kept.tensors,
    )
    return write_golden(folder, golden)


def check_room(folder: Path) -> None:
    """Raises StorageError where no golden can be written to `folder`; nothing is left there."""
    problem = full((place(folder),))
    if problem is not None:
        raise problem


def check_recordable(folder: Path, name: str, *, accept: bool) -> None:
    """Raises GoldenError where a golden is there that may not be replaced, or is of another model."""
    if not exists(folder):
        return
    if not accept:
        raise GoldenError(
            f"there is a golden of {name} already",
            where=str(folder),
            hint=f"`parity golden check {name}`, and `parity golden accept {name}` if what moved is intended",
        )
    _known_latency(folder, name)


def _known_latency(folder: Path, name: str) -> Latency:
    if not exists(folder):
        return {}
    facts = read_facts(folder)
    if facts.name != name:
        raise GoldenError("this golden is of another model", where=str(folder), allowed=name, got=facts.name)
    return facts.latency


def _latency(known: Latency, evidence: Evidence, records: Sequence[Record]) -> Latency:
    """What was timed today, by class of machine: each number of threads is one of its own."""
    found = dict(known)
    for threads in sorted({each.threads for record in records for each in record.latency}):
        own = threads == evidence.reference.threads
        machine = evidence.machine if own else machine_class(threads, evidence.device)
        timed = {record.target: ratios for record in records if (ratios := latency_ratios(record, threads))}
        if timed:
            found[machine] = timed
    return found
