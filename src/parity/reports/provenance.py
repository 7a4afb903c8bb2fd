"""What a report was made from, as names and values: the model, the samples, the reference, the machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from parity.records import MachineFacts, OutputFacts, Report
from parity.reports.numbers import ABSENT, bounds, count, number, percent, seconds
from parity.reports.sections import told

Pairs = tuple[tuple[str, str], ...]


def model_facts(report: Report) -> Pairs:
    """The model: where it came from, its signature, size and digests."""
    model = report.model
    return (
        ("name", model.name),
        ("source", model.source),
        ("parameters", f"{model.parameters:,}"),
        *(("input", each) for each in model.inputs),
        ("weights sha256", model.weights_sha256 or ABSENT),
        ("code sha256", model.code_sha256 or ABSENT),
        *(("note", note) for note in model.notes),
    )


def sample_facts(report: Report) -> Pairs:
    """The held-out samples: source, number, digest, and the calibration set where there is one."""
    samples = report.samples
    calibration = samples.calibration_source
    return (
        ("source", samples.source),
        ("held out", count(samples.n, "sample")),
        ("labelled", _yes(samples.labelled)),
        ("synthetic", "yes: random inputs are weak evidence" if samples.synthetic else "no"),
        ("sha256", samples.sha256 or ABSENT),
        *([("calibration", calibration)] if calibration else []),
        *([("calibration samples", str(samples.calibration_n))] if samples.calibration_n is not None else []),
        *(("note", note) for note in samples.notes),
    )


def reference_facts(report: Report) -> Pairs:
    """The eager reference: its oracle, outputs and noise. How fast it is stands beside the targets."""
    reference = report.reference
    reason = f": {reference.oracle_reason}" if reference.oracle_reason else ""
    return (
        ("oracle", f"{reference.oracle}{reason}"),
        *(
            ("output", f"{each.name}: {each.dtype}{list(each.shape)}{_no_batch(each)}{_decision(each)}")
            for each in reference.outputs
        ),
        ("longest reduction", count(reference.longest_reduction, "term")),
        ("jittered copies", str(reference.jittered_copies)),
        ("threads", str(reference.threads)),
        ("took", seconds(reference.seconds)),
        *([("unstable", reference.unstable)] if reference.unstable else []),
        *(("note", note) for note in reference.notes),
    )


def timing_facts(report: Report) -> Pairs:
    """The timing stage: what it took, and what disturbed it; nothing in a report that does not say."""
    timing = report.timing
    if timing is None:
        return ()
    took = f"{seconds(timing.seconds)}, {seconds(timing.burst_seconds)} of it in bursts of calls"
    return (
        ("timing took", took),
        ("sittings", f"{timing.sittings}, each with a fresh process of every target that is still to be timed"),
        *(("disturbed by", note) for note in timing.notes),
        *(machine_facts(timing.machine) if timing.machine else ()),
    )


def machine_facts(machine: MachineFacts) -> Pairs:
    """What the machine did while targets were timed; what it does not tell is left out."""
    clock = bounds(machine.frequency_mhz_low, machine.frequency_mhz_high)
    governor = told(" under the governor {}", machine.governor) or ""
    held = told("{}", machine.throttled_periods, lambda periods: count(periods, "period"))
    found = (
        ("processors", told("{}", machine.cores)),
        ("load", told("{} at the end, averaged over a minute", machine.load, number)),
        ("used by others", told("{} of the processors' time", machine.other_share, percent)),
        ("stolen", told("{} of the processors' time, by the hypervisor", machine.steal_share, percent)),
        ("clock", f"{clock} MHz{governor}" if clock else None),
        ("slowed by heat", told("{}", machine.throttled, lambda times: count(times, "time"))),
        ("held back by a quota", held and held + (told(", {}", machine.throttled_seconds, seconds) or "")),
    )
    return tuple((name, text) for name, text in found if text)


def _no_batch(output: OutputFacts) -> str:
    return "" if output.batched else ", no batch axis"


def _decision(output: OutputFacts) -> str:
    """What it stands for, and how that is known; empty in a report of a version that did not say."""
    if output.decision is None:
        return ""
    known = "as given" if output.decision_from == "given" else f"inferred from {output.decision_from}"
    return f", stands for {'no decision' if output.decision == 'none' else output.decision} ({known})"


def environment_facts(report: Report) -> Pairs:
    """The machine and the versions, nested names joined with dots."""
    return (*_flat("", report.environment), ("parity", report.parity), ("created", report.created))


def setting_facts(report: Report) -> Pairs:
    """The settings that the run was made with, nested names joined with dots."""
    return tuple(_flat("", report.settings))


def _flat(prefix: str, value: object) -> Iterable[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(f"{prefix}.{name}" if prefix else str(name), inner)
    elif isinstance(value, bool):
        yield prefix, _yes(value)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield prefix, ", ".join(str(each) for each in value) or ABSENT
    else:
        yield prefix, ABSENT if value is None else str(value)


def _yes(value: bool) -> str:  # noqa: FBT001 - one value, one word
    return "yes" if value else "no"
