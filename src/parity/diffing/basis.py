"""What two reports rest on and do not share: model, samples, reference, machine, versions, settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from parity.diffing.changes import Difference
from parity.records import Report, SampleFacts

MEASURED = ("numeric", "decision", "shape", "behaviour", "golden", "budget", "latency", "memory", "size")
"""Kinds of changes that are judged, but for the verdict itself."""

OF_A_MACHINE = ("latency", "memory", "startup", "throughput")
"""Kinds of changes that hold on one class of machine alone."""

LIMITS = ("limits", "target_limits", "waivers")
"""The settings that a verdict depends on besides what was measured."""

_DIGEST = 12
_ABSENT = "absent"


def find_differences(old: Report, new: Report) -> tuple[Difference, ...]:
    """Everything that has to be known before the changes are read, what weighs most first."""
    return (
        *_model(old, new),
        *_samples(old.samples, new.samples),
        *_reference(old, new),
        *_machine(old, new),
        *_versions(old, new),
        *_unequal("settings", _flat(old.settings), _flat(new.settings)),
    )


def barred(differences: Sequence[Difference], what: str) -> Difference | None:
    """The first difference for which changes of a kind are not judged, or None."""
    return next((each for each in differences if what in each.bars), None)


def limits_moved(differences: Sequence[Difference]) -> bool:
    """Whether the verdicts were reached under other limits or waivers."""
    return any(each.kind == "settings" and each.name.partition(".")[0] in LIMITS for each in differences)


def same_samples(differences: Sequence[Difference]) -> bool:
    """Whether both reports judged the same held-out samples."""
    return not any(each.kind == "samples" and each.name == "held-out" for each in differences)


def one_eager(old: Report, new: Report, differences: Sequence[Difference]) -> bool:
    """Whether both timed the same eager model, run by the same torch, and nothing disturbed either of them."""
    moved = {(each.kind, each.name) for each in differences}
    return not moved & {("model", "code"), ("versions", "torch")} and not (disturbed_by(old) or disturbed_by(new))


def disturbed_by(report: Report) -> tuple[str, ...]:
    """What disturbed the timing; nothing in a report of a version that did not look."""
    return report.timing.notes if report.timing else ()


def timed(report: Report) -> bool:
    """Whether anything was timed."""
    return bool(report.reference.latency) or any(record.latency for record in report.records)


def _if_moved(
    kind: str, name: str, old: object, new: object, *, bars: tuple[str, ...] = (), consequence: str = ""
) -> Iterator[Difference]:
    if old != new:
        was, now = (_ABSENT if each in {None, ""} else str(each) for each in (old, new))
        yield Difference(kind=kind, name=name, old=was, new=now, bars=bars, consequence=consequence)


def _unequal(kind: str, then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Difference]:
    for name in sorted({*then, *now}):
        yield from _if_moved(kind, name, then.get(name), now.get(name))


def _model(old: Report, new: Report) -> Iterator[Difference]:
    then, now = old.model, new.model
    # A file gives a model its name, so another name alone is no other model.
    apart = then.code_sha256 != now.code_sha256
    yield from _if_moved(
        "model", "name", then.name, now.name, bars=("verdict", *MEASURED) if apart else (),
        consequence="these are two models, so nothing is judged" if apart else "the same code under another name",
    )  # fmt: skip
    yield from _if_moved("model", "weights", then.weights_sha256[:_DIGEST], now.weights_sha256[:_DIGEST])
    yield from _if_moved(
        "model", "code", then.code_sha256[:_DIGEST], now.code_sha256[:_DIGEST],
        consequence="latency is a ratio to each report's own eager model, whose times stand beside it",
    )  # fmt: skip
    yield from _if_moved("model", "inputs", "; ".join(then.inputs), "; ".join(now.inputs))


def _samples(then: SampleFacts, now: SampleFacts) -> Iterator[Difference]:
    if then.sha256 != now.sha256:
        was, is_now = (f"{each.n} from {each.source}, {each.sha256[:_DIGEST]}" for each in (then, now))
        consequence = "a change may be that of the samples, and decisions are compared as two independent draws"
        yield from _if_moved("samples", "held-out", was, is_now, consequence=consequence)
    yield from _if_moved("samples", "calibration", _calibration(then), _calibration(now))


def _calibration(samples: SampleFacts) -> str:
    if samples.calibration_source is None:
        return ""
    return f"{samples.calibration_n} from {samples.calibration_source}"


def _reference(old: Report, new: Report) -> Iterator[Difference]:
    then, now = old.reference, new.reference
    yield from _if_moved(
        "reference", "oracle", then.oracle, now.oracle, bars=("numeric",),
        consequence="the floor is measured otherwise, so error ratios are not judged",
    )  # fmt: skip
    yield from _if_moved(
        "reference", "stability", then.unstable or "stable", now.unstable or "stable", bars=("numeric", "decision"),
        consequence="what is held against a reference that differs from itself is not judged",
    )  # fmt: skip
    yield from _if_moved("reference", "threads", then.threads, now.threads)


def _machine(old: Report, new: Report) -> Iterator[Difference]:
    then, now = old.environment, new.environment
    was, is_now = _class(then), _class(now)
    consequence = "times and memory are never compared across classes of machine: make both reports on one"
    yield from _if_moved("machine", "class", was, is_now, bars=OF_A_MACHINE, consequence=consequence)
    if was is None and is_now is None:
        consequence = "neither report says what class of machine it was made on, so times and memory are not compared"
        yield Difference(
            kind="machine", name="class", old=_ABSENT, new=_ABSENT, bars=OF_A_MACHINE, consequence=consequence
        )
    for name in ("device", "quota", "features", "variables"):
        yield from _unequal("machine", _flat({name: then.get(name)}), _flat({name: now.get(name)}))
    if timed(old) and timed(new):
        disturbances = ("; ".join(disturbed_by(each)) or "nothing that is known" for each in (old, new))
        yield from _if_moved("machine", "disturbed by", *disturbances)


def _class(environment: Mapping[str, Any]) -> str | None:
    """The class of machine without its threads: every timing has a number of its own."""
    found = environment.get("machine_class")
    return None if found is None else re.sub(r", \d+ threads", "", str(found))


def _versions(old: Report, new: Report) -> Iterator[Difference]:
    def versions(report: Report) -> dict[str, str]:
        made = report.environment
        torch = {f"torch's {name}": text for name, text in _flat(made.get("torch") or {}).items()}
        packages = _flat(made.get("versions") or {})
        return {"parity": report.parity, **_flat({"python": made.get("python")}), **packages, **torch}

    yield from _unequal("versions", versions(old), versions(new))


def _flat(value: object, prefix: str = "") -> dict[str, str]:
    """Every value by its name, nested ones joined with dots; what is not known is left out."""
    if isinstance(value, Mapping):
        inner = (_flat(each, f"{prefix}.{name}" if prefix else str(name)) for name, each in value.items())
        return {name: text for found in inner for name, text in found.items()}
    if value is None:
        return {}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return {prefix: ", ".join(map(str, value))}
    return {prefix: str(value)}
