"""Waivers: a loosened gate is a debt. It has a reason and a last day, and it goes when it is not needed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from parity.compare.behaviour import REPEATABILITY
from parity.errors import SettingsError, did_you_mean
from parity.records import RAN, BehaviourResult, Record, Stage, Symptom, Verdict, WaiverResult, WaiverState, told, worst
from parity.settings import ANY, Settings, WaiverSettings
from parity.targets import target_in_settings

MAX_DAYS_AHEAD = 366
"""Days that a waiver may hold: a debt that nobody looks at for a year is no longer a debt."""


@dataclass(frozen=True)
class Waiver:
    """One waiver of a model. `target` is `exporter@runtime`, a file's name, or `*`; None narrows nothing.

    `everywhere` says that it holds for every model or every target. One cell cannot tell then whether another
    one needs it, so that its last day alone ends it.
    """

    target: str
    reason: str
    expires: dt.date
    check: str | None = None
    output: str | None = None
    everywhere: bool = False

    def at(self, target: str) -> bool:
        """Whether it is for a target."""
        return self.target in (ANY, target, target.partition("@")[0])

    def covers(self, part: Part) -> bool:
        """Whether it is for one part of a cell."""
        return self.check in (None, part.check) and self.output in (None, part.output)

    @property
    def label(self) -> str:
        """Its target and what it is narrowed to: `onnx@onnxruntime, latency`."""
        return ", ".join([self.target, *filter(None, (self.check, self.output))])


@dataclass(frozen=True)
class Part:
    """One judged part of a cell. `check` is None where the cell as a whole ended or stayed open."""

    check: str | None
    output: str | None
    verdict: Verdict
    message: str


@dataclass(frozen=True)
class Ruling:
    """What holds once the waivers were applied; `lines` say why, the waivers first."""

    verdict: Verdict
    lines: tuple[str, ...]
    waivers: tuple[WaiverResult, ...]


def waivers_of(
    settings: Settings, model: str, today: dt.date, known: Collection[str] | None = None
) -> tuple[Waiver, ...]:
    """The waivers of one model, after all of them were looked at.

    Args:
        settings: The project's settings.
        model: The model that is judged.
        today: The day that they are held against.
        known: Every model by name, or None where that cannot be told.

    Raises:
        SettingsError: a waiver holds for more than a year, or is for a target or a model that nobody knows.
    """
    for each in settings.waivers:
        _check(each, today, None if known is None else {*known, model, ANY})
    return tuple(
        Waiver(
            target=each.target if each.target == ANY else target_in_settings(each.target, _where(each)),
            reason=each.reason,
            expires=each.expires,
            check=each.check,
            output=each.output,
            everywhere=ANY in (each.model, each.target),
        )
        for each in settings.waivers
        if each.model in (ANY, model)
    )


def _check(waiver: WaiverSettings, today: dt.date, known: Collection[str] | None) -> None:
    if waiver.target != ANY:
        target_in_settings(waiver.target, _where(waiver))
    if known is not None and waiver.model not in known:
        raise SettingsError(f"there is no model {waiver.model!r}", where=_where(waiver),
                            hint=f"{did_you_mean(waiver.model, known)} · parity models")  # fmt: skip
    last = today + dt.timedelta(days=MAX_DAYS_AHEAD)
    if waiver.expires > last:
        raise SettingsError("a waiver holds for a year at most", where=_where(waiver), allowed=f"until {last}",
                            got=str(waiver.expires), hint="choose the day by which it will be mended")  # fmt: skip


def _where(waiver: WaiverSettings) -> str:
    return f"the waiver of {waiver.model} at {waiver.target}"


def waived(record: Record, waivers: Iterable[Waiver], today: dt.date, timing: str | None = None) -> Record:
    """The record with its waivers applied; a cell that was not judged in this run is left alone.

    Args:
        record: What was learnt about the cell, latency included.
        waivers: Those of the model.
        today: The day that they are held against.
        timing: Why the target could not be timed, or None.
    """
    here = [each for each in waivers if each.at(record.target)]
    found = parts_of(record)
    if timing is not None:
        found = (*found, Part("latency", None, Verdict.FAIL, f"timing: {timing}"))
    ruling = rule(found, here, today)
    if not ruling.waivers:
        return record
    message = "; ".join(ruling.lines) or record.message
    return replace(record, verdict=ruling.verdict, message=message, waivers=ruling.waivers)


def parts_of(record: Record) -> tuple[Part, ...]:
    """The judged parts of a cell; none where this run did not judge it."""
    if record.verdict is Verdict.SKIP or record.symptom is Symptom.UNAVAILABLE:
        return ()
    found = [Part("numeric", each.output, each.verdict, told(each)) for each in record.numeric]
    found += [Part("decisions", each.output, each.verdict, told(each)) for each in record.decisions if each.verdict]
    found += [Part("shapes", each.output, each.verdict, told(each)) for each in record.shapes]
    found += [Part(check_of(each), None, each.verdict, told(each)) for each in record.behaviour if each.verdict]
    found += [Part("latency", None, each.verdict, told(each)) for each in record.latency]
    found += [Part("budgets", None, each.verdict, told(each)) for each in record.budgets]
    untimed = record.stage is Stage.TIME and record.symptom is not Symptom.MISMATCH
    early = record.stage not in (*RAN, Stage.TIME)
    if early or (not untimed and worst(part.verdict for part in found) is not record.verdict):
        found.append(Part(None, None, record.verdict, record.message))
    return tuple(found)


def check_of(result: BehaviourResult) -> str:
    """The check that a behaviour belongs to: the same input again is about numbers, all others are about shapes."""
    return "numeric" if result.kind == REPEATABILITY else "shapes"


def rule(
    parts: Sequence[Part], waivers: Sequence[Waiver], today: dt.date, evidence: Sequence[Part] | None = None
) -> Ruling:
    """The verdict on some parts of a cell under its waivers.

    Args:
        parts: What is being concluded on.
        waivers: Those at this cell.
        today: The day that they are held against.
        evidence: What tells whether a waiver is needed: all parts of the cell, where `parts` are some of them.
    """
    evidence = parts if evidence is None else evidence
    states = [(each, _state(each, parts, evidence, today)) for each in waivers]
    covering = [each for each, state in states if state is WaiverState.WAIVED]
    uncovered = [part for part in parts if not any(each.covers(part) for each in covering)]
    results = tuple(_result(each, state, parts) for each, state in states if state is not None)
    wrong = tuple(_wrong(each, state, evidence) for each, state in states if state in _WRONG)
    failed = tuple(part.message for part in uncovered if part.verdict is Verdict.FAIL)
    if wrong or failed:
        return Ruling(Verdict.FAIL, (*wrong, *failed), results)
    verdict = worst(part.verdict for part in uncovered)
    told_of = tuple(_told(result) for result in results)
    if covering and verdict is not Verdict.INCONCLUSIVE:
        return Ruling(Verdict.SKIP, told_of, results)
    still = tuple(part.message for part in uncovered if part.verdict is verdict and part.message)
    return Ruling(verdict, (*still, *told_of), results)


_WRONG = (WaiverState.EXPIRED, WaiverState.NOT_NEEDED)


def _state(waiver: Waiver, parts: Sequence[Part], evidence: Sequence[Part], today: dt.date) -> WaiverState | None:
    """What has become of a waiver; None where nothing that it is for was judged."""
    if all(part.verdict is Verdict.SKIP for part in parts):
        return None
    if waiver.expires < today:
        return WaiverState.EXPIRED
    if any(part.verdict is Verdict.FAIL and waiver.covers(part) for part in parts):
        return WaiverState.WAIVED
    if waiver.everywhere:
        return None
    # Where the whole cell is open, so is whether any part of it needs its waiver.
    told_by = [part for part in evidence if waiver.covers(part) or (part.check is None and _open(part))]
    verdict = worst(part.verdict for part in told_by)
    if verdict is Verdict.PASS or _names_nothing(waiver, evidence):
        return WaiverState.NOT_NEEDED
    return WaiverState.KEPT if verdict is Verdict.INCONCLUSIVE else None


def _open(part: Part) -> bool:
    return part.verdict is Verdict.INCONCLUSIVE


def _names_nothing(waiver: Waiver, evidence: Sequence[Part]) -> bool:
    outputs = {part.output for part in evidence if part.check == "numeric"}
    return bool(outputs) and waiver.output is not None and waiver.output not in outputs


def _wrong(waiver: Waiver, state: WaiverState | None, evidence: Sequence[Part]) -> str:
    if state is WaiverState.EXPIRED:
        return f"the waiver of {waiver.label} expired on {waiver.expires}: {waiver.reason}"
    if _names_nothing(waiver, evidence):
        outputs = {part.output for part in evidence if part.output is not None}
        return f"the waiver of {waiver.label} covers nothing: {did_you_mean(str(waiver.output), outputs)}"
    narrow = "" if waiver.check else '; one that is meant for the latency alone says check = "latency"'
    return f"remove the waiver of {waiver.label}, it is not needed any more ({waiver.reason}){narrow}"


def _result(waiver: Waiver, state: WaiverState, parts: Sequence[Part]) -> WaiverResult:
    covered = [part for part in parts if waiver.covers(part)]
    verdict = worst(part.verdict for part in covered)
    messages = [part.message for part in covered if part.verdict is verdict and part.message]
    return WaiverResult(
        target=waiver.target,
        reason=waiver.reason,
        expires=waiver.expires.isoformat(),
        state=state,
        verdict=verdict,
        check=waiver.check,
        output=waiver.output,
        message=_first(messages),
    )


def _first(messages: Sequence[str]) -> str | None:
    """The first message, and how many more there are."""
    more = f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""
    return messages[0] + more if messages else None


def _told(result: WaiverResult) -> str:
    if result.state is WaiverState.KEPT:
        return f"its waiver until {result.expires} stays: what is inconclusive does not tell whether it is needed"
    return f"waived until {result.expires}: {result.reason}; without it: {result.verdict}: {result.message}"
