"""Today's reference against a golden: findings, which have no opinion."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from parity.arrays import Array, ArrayReader, ArrayWriter
from parity.compare.floor import ReferenceArrays
from parity.compare.numeric import compare_output
from parity.compare.sets import SetGroup
from parity.errors import GoldenError
from parity.golden.evidence import Evidence
from parity.golden.kept import kept_parts, kept_positions
from parity.golden.ratios import worst_agreement, worst_ratio
from parity.golden.record import Golden
from parity.models.wording import listed
from parity.records import GoldenFinding, NumericFinding, OutputFacts, Record
from parity.samples.calls import Call
from parity.scratch import scratch

_DIGEST = 12
_NAMED = 5

Matched = Mapping[int, int]
"""Index of a kept sample then, and of the held-out sample with the same inputs today."""


def compare_golden(golden: Golden, records: Iterable[Record], evidence: Evidence) -> tuple[GoldenFinding, ...]:
    """Everything that can be said: outputs, then what moved, then each target that was judged today.

    Kept samples are found again by the digest of their inputs, wherever they stand today.

    Raises:
        GoldenError: the golden is of another model.
    """
    if golden.name != evidence.model.name:
        raise GoldenError(
            "this golden is of another model", where=golden.name, allowed=evidence.model.name, got=golden.name
        )
    today = {digest: sample for sample, digest in reversed(list(enumerate(evidence.digests)))}
    matched = {
        then: today[digest] for then, digest in zip(golden.kept, golden.kept_digests, strict=True) if digest in today
    }
    return (
        *_outputs(golden, evidence, matched),
        *_data(golden, evidence, matched),
        *_model(golden, evidence),
        *_toolchain(golden, evidence),
        *(_target(golden, record) for record in records),
    )


def _outputs(golden: Golden, evidence: Evidence, matched: Matched) -> list[GoldenFinding]:
    if evidence.reference.unstable:
        return [GoldenFinding(kind="reference", name="reference", detail=evidence.reference.unstable)]
    today = {output.name: output for output in evidence.reference.outputs}
    then = {**golden.outputs, **golden.unkept}
    missing = [name for name in then if name not in today]
    extra = [name for name in today if name not in then]
    renamed = len(missing) == len(extra) == 1
    found = [
        _numeric(NumericFinding(output=name, rule="missing", detail=_gone(extra, today, renamed=renamed)))
        for name in missing
    ]
    found += [
        _numeric(NumericFinding(output=name, rule="extra", detail=_new(missing, then, renamed=renamed)))
        for name in extra
    ]
    for name, output in today.items():
        if name in golden.unkept:
            found.append(GoldenFinding(kind="output", name=name, detail=golden.unkept[name]))
        elif name in golden.outputs:
            finding = _structure(golden, evidence, output, matched) or _values(golden, evidence, output, matched)
            found += [_numeric(finding)] if finding else []
    return found


def _numeric(finding: NumericFinding) -> GoldenFinding:
    return GoldenFinding(kind="output", name=finding.output, numeric=finding)


def _gone(extra: Sequence[str], today: Iterable[str], *, renamed: bool) -> str:
    if renamed:
        return f"the golden has it, and today {extra[0]!r} is new: was it renamed?"
    return f"the golden has it, today's reference returns {', '.join(today)}"


def _new(missing: Sequence[str], then: Iterable[str], *, renamed: bool) -> str:
    if renamed:
        return f"today's reference returns it, and the golden's {missing[0]!r} is gone: was it renamed?"
    return f"today's reference returns it, the golden has {', '.join(then)}"


def _structure(golden: Golden, evidence: Evidence, output: OutputFacts, matched: Matched) -> NumericFinding | None:
    name = output.name
    if golden.outputs[name] != output.dtype:
        detail = f"{golden.outputs[name]} in the golden, {output.dtype} today"
        return NumericFinding(output=name, rule="dtype", detail=detail)
    if not evidence.separable(output):
        detail = "a part for each sample in the golden, no batch axis today"
        return NumericFinding(output=name, rule="shape", detail=detail)
    kept = kept_parts(golden, name)
    for then, sample in matched.items():
        part = evidence.part(evidence.arrays.eager, name, sample)
        was = _shape(golden, name, kept.get(then))
        now = None if part is None else list(part.shape)
        # How many boxes a set has may differ, and what they are like may not.
        if was and now and _group(golden, evidence, name):
            was, now = was[1:], now[1:]
        if was != now:
            detail = f"{_or_nothing(was)} in the golden, {_or_nothing(now)} today, for sample {sample}"
            return NumericFinding(output=name, rule="shape", detail=detail, worst_sample=sample)
    return None


def _shape(golden: Golden, name: str, part: Array | None) -> list[int] | None:
    if part is None:
        return None
    return list(golden.subset[name].shape if name in golden.subset else part.shape)


def _or_nothing(shape: list[int] | None) -> str:
    return "nothing" if shape is None else str(shape)


def _values(golden: Golden, evidence: Evidence, output: OutputFacts, matched: Matched) -> NumericFinding | None:
    """The golden's outputs as if a target had returned them, one call for each kept sample."""
    group = _group(golden, evidence, output.name)
    kept = {name: kept_parts(golden, name) for name in (group.members if group else (output.name,))}
    calls = [
        Call(f"g{then}", (sample,)) for then, sample in matched.items() if all(then in each for each in kept.values())
    ]
    if not calls:
        return None
    places = kept_positions(golden, output.name)
    with scratch() as folder:
        with (
            ArrayWriter(folder, "golden") as theirs,
            ArrayWriter(folder, "eager") as eager,
            ArrayWriter(folder, "oracle") as oracle,
        ):
            for call, name in itertools.product(calls, kept):
                then, (sample,) = int(call.id[1:]), call.samples
                key = f"{call.id}/{name}"
                theirs.put(key, evidence.as_call(kept[name][then]))
                for writer, reader in ((eager, evidence.arrays.eager), (oracle, evidence.arrays.oracle)):
                    part = evidence.part(reader, name, sample)
                    assert part is not None  # noqa: S101  # the shapes were compared before
                    writer.put(key, evidence.as_call(part if places is None else part.reshape(-1)[places]))
        readers = ArrayReader(folder, "eager"), ArrayReader(folder, "oracle")
        arrays = ReferenceArrays(*readers, (group,) if group else ())
        yardstick = evidence.yardsticks[output.name]
        finding = compare_output(ArrayReader(folder, "golden"), arrays, yardstick, calls, evidence.yardsticks)
    return replace(finding, detail=f"the golden has {finding.detail}") if finding.rule == "nonfinite" else finding


def _group(golden: Golden, evidence: Evidence, name: str) -> SetGroup | None:
    """The set that an output belongs to, where the golden has kept all of it."""
    group = next((each for each in evidence.arrays.sets if name in each.members), None)
    if group is None or not all(each in golden.outputs and each not in golden.subset for each in group.members):
        return None
    return group


def _data(golden: Golden, evidence: Evidence, matched: Matched) -> list[GoldenFinding]:
    gone = [then for then in golden.kept if then not in matched]
    if golden.samples_sha256 == evidence.samples.sha256 and matched:
        return []
    number = f"{golden.samples_n} samples then, {evidence.samples.n} today"
    if gone:
        detail = f"{number}; gone are {listed(map(str, gone), _NAMED)}, by their number in the golden"
    else:
        detail = f"{number}; all that are kept are still there" if golden.kept else "the golden keeps no sample"
    return [
        GoldenFinding(
            kind="data",
            name="samples",
            golden=golden.samples_sha256[:_DIGEST],
            today=evidence.samples.sha256[:_DIGEST],
            n=len(matched),
            of=len(golden.kept),
            detail=detail,
        )
    ]


def _model(golden: Golden, evidence: Evidence) -> list[GoldenFinding]:
    states = (
        ("weights", golden.weights_sha256, evidence.model.weights_sha256),
        ("code", golden.code_sha256, evidence.model.code_sha256),
    )
    return [
        GoldenFinding(kind="model", name=name, golden=then[:_DIGEST], today=now[:_DIGEST])
        for name, then, now in states
        if then != now
    ]


def _toolchain(golden: Golden, evidence: Evidence) -> list[GoldenFinding]:
    then = {**golden.versions, "machine": golden.machine}
    now = {**evidence.toolchain, "machine": evidence.machine}
    return [
        GoldenFinding(kind="toolchain", name=name, golden=then.get(name) or "absent", today=now.get(name) or "absent")
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    ]


def _target(golden: Golden, record: Record) -> GoldenFinding:
    return GoldenFinding(
        kind="target",
        name=record.target,
        ratio=worst_ratio(record),
        golden_ratio=golden.ratios.get(record.target),
        agreement=worst_agreement(record),
        golden_agreement=golden.agreement.get(record.target),
    )
