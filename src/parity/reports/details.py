"""Everything known about one record, as sections that the terminal and the HTML page lay out.

Each line of a section puts what was measured beside what it is held against and the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from parity.records import (
    BehaviourResult,
    DecisionResult,
    LatencyResult,
    NumericResult,
    Record,
    ShapeResult,
    Verdict,
    WaiverResult,
)
from parity.reports.numbers import (
    ABSENT,
    against,
    count,
    digest,
    interval,
    milliseconds,
    number,
    seconds,
    share,
    size,
)
from parity.reports.summary import metric_words


@dataclass(frozen=True, kw_only=True)
class Line:
    """One result: what it is about, the numbers side by side, and whatever else is known of it."""

    what: str
    measured: str
    yardstick: str
    ratio: str
    limit: str
    verdict: Verdict | None
    more: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Section:
    """The results of one kind; `columns` heads the numbers of its lines."""

    title: str
    columns: tuple[str, str, str, str, str]
    lines: tuple[Line, ...]


def sections(record: Record) -> tuple[Section, ...]:
    """The sections of `record` that have anything in them."""
    made = (
        Section(
            title="Numbers",
            columns=("output", "error", "floor", "error / floor", "limit"),
            lines=tuple(_numeric(each) for each in record.numeric),
        ),
        Section(
            title="Decisions",
            columns=("metric", "value", "reference", "95 % interval", "limit"),
            lines=tuple(_decision(each) for each in record.decisions),
        ),
        Section(
            title="Shapes",
            columns=("batch, sizes", "outcome", "floor", "error / floor", "limit"),
            lines=tuple(_shape(each) for each in record.shapes),
        ),
        Section(
            title="Behaviour",
            columns=("kind", "of", "SQNR, dB", "floors", "limit"),
            lines=tuple(_behaviour(each) for each in record.behaviour),
        ),
        Section(
            title="Latency",
            columns=("batch", "median", "baseline", "ratio to eager", "limit"),
            lines=tuple(_latency(each) for each in record.latency),
        ),
    )
    return tuple(section for section in made if section.lines)


def facts(record: Record) -> tuple[tuple[str, str], ...]:
    """The facts of `record` that no gate looks at, as names and values; absent ones are left out."""
    found: list[tuple[str, str]] = []
    found += [("waiver", _waiver(each)) for each in record.waivers]
    if record.precision:
        found.append(("precision", record.precision))
    if record.export:
        export = record.export
        took = f"made in {seconds(export.seconds)}" + (" (from the cache)" if export.cached else "")
        made = took if export.seconds else "made elsewhere"
        found += [("artifact", f"{size(export.bytes)}, {made}"), ("sha256", digest(export.sha256))]
        found += [("path", export.path)] if export.path else []
        # The digest above is over all of them: this is the one that other tools show of a file.
        found += [("file", f"{each.name}: {size(each.bytes)}, sha256 {digest(each.sha256)}") for each in export.files]
        found += [("export note", note) for note in export.notes]
    if record.memory:
        found.append(("peak memory", size(record.memory.peak_bytes)))
    found += [(f"runtime {name}", value) for name, value in (record.runtime or {}).items()]
    found += [("worst sample", path) for path in record.worst_samples]
    if record.log:
        found.append(("log", record.log))
    return tuple(found)


def _waiver(waiver: WaiverResult) -> str:
    narrowed = ", ".join(filter(None, (waiver.check, waiver.output)))
    only = f" ({narrowed} only)" if narrowed else ""
    without = f"; without it {waiver.verdict}" + (f": {waiver.message}" if waiver.message else "")
    return f"{waiver.state}: {waiver.target}{only} until {waiver.expires}: {waiver.reason}{without}"


def _numeric(result: NumericResult) -> Line:
    return Line(
        what=result.output,
        measured=number(result.error),
        yardstick=number(result.floor),
        ratio=against(result.ratio, result.limit).partition(" / ")[0],
        limit=number(result.limit),
        verdict=result.verdict,
        more=_known(
            f"rule {result.rule}",
            _with("measured as {}", result.measure),
            _with("allowed for long sums {}", result.allowance, number),
            _with("largest absolute difference {}", result.max_abs, number),
            _with("worst sample {}", result.worst_sample),
            _with("{} elements differ", None if result.rule == "matched" else result.mismatched),
            _with("{} boxes are unmatched", result.mismatched if result.rule == "matched" else None),
            _with("{} without a defined answer", result.ties, lambda ties: count(ties, "tie")),
            _with("n = {}", result.n),
            _with("SQNR {} dB", result.sqnr_db, number),
            "constant reference output" if result.constant else None,
            result.detail,
            result.message,
        ),
    )


def _decision(result: DecisionResult) -> Line:
    return Line(
        what=f"{metric_words(result.metric)} of {result.output}",
        measured=share(result.value),
        yardstick=ABSENT if result.reference is None else share(result.reference),
        ratio=interval(result.low, result.high),
        limit=number(result.limit),
        verdict=result.verdict,
        more=_known(
            _with("n = {}", result.n),
            _with("{}", result.flips, lambda flips: count(flips, "flip")),
            _with("{} within arithmetic noise", result.ties, lambda ties: count(ties, "tie")),
            None if result.verdict else "for information, no gate",
            result.message,
        ),
    )


def _shape(result: ShapeResult) -> Line:
    return Line(
        what=result.shape,
        measured=str(result.symptom),
        yardstick=ABSENT,
        ratio=against(result.ratio, result.limit).partition(" / ")[0],
        limit=number(result.limit),
        verdict=result.verdict,
        more=_known(result.message or result.detail),
    )


def _behaviour(result: BehaviourResult) -> Line:
    return Line(
        what=metric_words(result.kind),
        measured=result.name,
        yardstick=number(result.sqnr_db),
        ratio=against(result.ratio, result.limit).partition(" / ")[0],
        limit=number(result.limit),
        verdict=result.verdict,
        more=_known(
            result.message or result.detail,
            _with("{} values differ", result.mismatched),
            None if result.verdict else "for information, no gate",
        ),
    )


def _latency(result: LatencyResult) -> Line:
    bounds = "" if result.ratio_low is None else f" ({interval(result.ratio_low, result.ratio_high)})"
    return Line(
        what=str(result.batch),
        measured=milliseconds(result.median_ms),
        yardstick=number(result.baseline),
        ratio=against(result.ratio, result.limit).partition(" / ")[0] + bounds,
        limit=number(result.limit),
        verdict=result.verdict,
        more=_known(
            _with("p90 {}", result.p90_ms, milliseconds),
            f"{number(result.throughput)} samples a second",
            count(result.threads, "thread"),
            f"{count(result.n, 'burst')} from {result.processes} fresh processes",
            result.message,
        ),
    )


def _with(text: str, value: object, write: Callable[..., str] = str) -> str | None:
    return None if value is None else text.format(write(value))


def _known(*texts: str | None) -> tuple[str, ...]:
    """The texts that are there, each once, in order."""
    present: Iterable[str] = (text for text in texts if text)
    return tuple(dict.fromkeys(present))
