"""Everything known about one record, as sections that the terminal and the HTML page lay out.

Each line of a section puts what was measured beside what it is held against and the limit.
"""

from __future__ import annotations

from parity.records import BehaviourResult, DecisionResult, NumericResult, Record, Report, ShapeResult, WaiverResult
from parity.reports.numbers import ABSENT, against, count, digest, interval, number, seconds, share, size
from parity.reports.sections import Line, Section, known, told
from parity.reports.speed import tables
from parity.reports.summary import metric_words


def sections(report: Report, record: Record) -> tuple[Section, ...]:
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
        *tables.sections(report, record),
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
        numbers=(
            number(result.error),
            number(result.floor),
            against(result.ratio, result.limit).partition(" / ")[0],
            number(result.limit),
        ),
        verdict=result.verdict,
        more=known(
            f"rule {result.rule}",
            told("measured as {}", result.measure),
            told("allowed for long sums {}", result.allowance, number),
            told("largest absolute difference {}", result.max_abs, number),
            told("worst sample {}", result.worst_sample),
            told("{} elements differ", None if result.rule == "matched" else result.mismatched),
            told("{} boxes are unmatched", result.mismatched if result.rule == "matched" else None),
            told("{} without a defined answer", result.ties, lambda ties: count(ties, "tie")),
            told("n = {}", result.n),
            told("SQNR {} dB", result.sqnr_db, number),
            "constant reference output" if result.constant else None,
            result.detail,
            result.message,
        ),
    )


def _decision(result: DecisionResult) -> Line:
    return Line(
        what=f"{metric_words(result.metric)} of {result.output}",
        numbers=(
            share(result.value),
            ABSENT if result.reference is None else share(result.reference),
            interval(result.low, result.high),
            number(result.limit),
        ),
        verdict=result.verdict,
        more=known(
            told("n = {}", result.n),
            told("{}", result.flips, lambda flips: count(flips, "flip")),
            told("{} within arithmetic noise", result.ties, lambda ties: count(ties, "tie")),
            None if result.verdict else "for information, no gate",
            result.message,
        ),
    )


def _shape(result: ShapeResult) -> Line:
    return Line(
        what=result.shape,
        numbers=(
            str(result.symptom),
            ABSENT,
            against(result.ratio, result.limit).partition(" / ")[0],
            number(result.limit),
        ),
        verdict=result.verdict,
        more=known(result.message or result.detail),
    )


def _behaviour(result: BehaviourResult) -> Line:
    return Line(
        what=metric_words(result.kind),
        numbers=(
            result.name,
            number(result.sqnr_db),
            against(result.ratio, result.limit).partition(" / ")[0],
            number(result.limit),
        ),
        verdict=result.verdict,
        more=known(
            result.message or result.detail,
            told("{} values differ", result.mismatched),
            None if result.verdict else "for information, no gate",
        ),
    )
