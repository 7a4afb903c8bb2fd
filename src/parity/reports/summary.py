"""What every renderer shows of a report: the verdict as a sentence, and one row for each target.

The one-row view has room for one number a kind, so it takes the finding with the gravest verdict, and
among those the one furthest from what was hoped for. All numbers stay in the records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from parity.records import (
    BehaviourResult,
    DecisionResult,
    GoldenResult,
    Hazard,
    NumericResult,
    Record,
    Report,
    ShapeResult,
    Stage,
    Symptom,
    Verdict,
    WaiverState,
    worst,
)
from parity.reports.numbers import ABSENT, against, count, interval, number, share
from parity.reports.speed import budgets
from parity.reports.speed.lines import Lines, latency_lines, size_lines, speed_reasons
from parity.reports.speed.places import Place, shared

_AGAINST_EAGER = frozenset({"accuracy_difference", "mean_iou_difference", "token_accuracy_difference"})
GRAVEST_FIRST = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS, Verdict.SKIP)
SHOWN_SIZES = 3
"""Failing sizes whose messages are listed; one symbol that became a constant fails at a dozen."""
_SYNTHETIC = "synthetic"
"""What the source of samples is called where they were drawn."""

SYMBOLS = {Verdict.PASS: "✓", Verdict.FAIL: "✗", Verdict.INCONCLUSIVE: "?", Verdict.SKIP: "-"}
_COARSE = 2
"""Digits of an error and its floor in a row: eighty columns have no room for three, and the ratio has them."""
PHRASES = {
    Verdict.FAIL: "failed",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.PASS: "passed",
    Verdict.SKIP: "skipped",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One target in one line; every text is ready to show, and plain (no markup)."""

    target: str
    verdict: Verdict
    ended: str
    error: tuple[str, ...]
    decision: tuple[str, ...]
    shapes: tuple[tuple[str, Verdict], ...]
    latency: Lines
    size: Lines
    message: str


def rows(report: Report) -> tuple[Row, ...]:
    """One row for each record, in the order of the report."""
    place = shared(report)
    return tuple(row(record, place) for record in report.records)


def row(record: Record, place: Place | None) -> Row:
    """The row of one record; `place` is the batch size and number of threads at which its latency is shown."""
    return Row(
        target=record.target,
        verdict=record.verdict,
        ended=ended(record),
        error=_error_lines(worst_numeric(record.numeric)),
        decision=_decision_lines(shown_decision(record.decisions)),
        shapes=_shapes(record.shapes),
        latency=latency_lines(record, place),
        size=size_lines(record),
        message=record.message,
    )


def _shapes(results: tuple[ShapeResult, ...]) -> tuple[tuple[str, Verdict], ...]:
    """Every batch size, and how many sizes of other symbols ended how."""
    found = [(each.shape, each.verdict) for each in results if not each.sizes]
    for verdict in GRAVEST_FIRST:
        sized = [each for each in results if each.sizes and each.verdict is verdict]
        found += [(f"+{count(len(sized), 'size')}", verdict)] if sized else []
    return tuple(found)


def ended(record: Record) -> str:
    """Where and how the cell ended, as `run/crash`; empty where it ran to its end."""
    if record.stage is Stage.DONE and record.symptom is Symptom.OK:
        return ""
    return f"{record.stage}/{record.symptom}"


def worst_numeric(results: Iterable[NumericResult]) -> NumericResult | None:
    """The gravest result, and among equals the one with the largest ratio; None where there is none."""
    return min(
        results,
        key=lambda each: (
            GRAVEST_FIRST.index(each.verdict),
            -(float("-inf") if each.ratio is None else each.ratio),
        ),
        default=None,
    )


def error_text(result: NumericResult | None) -> str:
    """A numeric result in a few characters: `1.05 / 10`, `3 of 540 differ`, `dtype`."""
    if result is None:
        return ABSENT
    if result.rule == "matched" and result.mismatched:
        return f"{result.mismatched} unmatched"
    if result.ratio is not None:
        return against(result.ratio, result.limit)
    if result.mismatched is not None:
        tied = f", {count(result.ties, 'tie')}" if result.ties else ""
        return f"{result.mismatched} of {ABSENT if result.n is None else result.n} differ{tied}"
    if result.sqnr_db is not None:
        return f"SQNR {number(result.sqnr_db)} dB"
    return "constant" if result.constant else result.rule


def _error_lines(result: NumericResult | None) -> tuple[str, ...]:
    """The ratio beside its limit, and under it what it is the ratio of: the error beside the floor."""
    if result is None or result.ratio is None or result.floor is None:
        return (error_text(result),)
    return (error_text(result), f"{number(result.error, _COARSE)} / {number(result.floor, _COARSE)}")


def shown_decision(results: Iterable[DecisionResult]) -> DecisionResult | None:
    """The gravest judged decision metric, and among equals one that counts flips, then the lowest value."""
    return min(
        results,
        key=lambda each: (
            len(GRAVEST_FIRST) if each.verdict is None else GRAVEST_FIRST.index(each.verdict),
            each.flips is None,
            each.value,
        ),
        default=None,
    )


def metric_words(metric: str) -> str:
    """A metric as it is read: `mean_iou` as `mean IoU`, `accuracy_difference` as `accuracy against eager's`."""
    ours = metric.removesuffix("_difference") if metric in _AGAINST_EAGER else metric
    words = {"iou": "IoU", "top1": "top-1", "top5": "top-5"}
    return " ".join(words.get(word, word) for word in ours.split("_")) + (" against eager's" if ours != metric else "")


def _decision_lines(result: DecisionResult | None) -> tuple[str, ...]:
    if result is None:
        return (ABSENT,)
    lines = [] if result.metric == "top1_agreement" else [metric_words(result.metric.removesuffix("_agreement"))]
    lines.append(share(result.value))
    if result.low is not None:
        lines.append(interval(result.low, result.high))
    if result.n is not None:
        lines.append(f"n={result.n}")
    return tuple(lines)


def subject(report: Report) -> str:
    """What was judged and on what: `resnet18, judged on 540 held-out samples from heldout.npz`."""
    samples = report.samples
    kind = "synthetic held-out sample" if samples.synthetic else "held-out sample"
    weak = " (random inputs: weak evidence)" if samples.synthetic else ""
    origin = "" if samples.source == _SYNTHETIC else f" from {samples.source}"
    return f"{report.model.name}, judged on {count(samples.n, kind)}{origin}{weak}"


def outcome(report: Report) -> str:
    """How many targets ended how, naming those that failed or stayed inconclusive, and the golden."""
    return _targets_outcome(report) + _golden_outcome(report)


def waived(record: Record) -> bool:
    """Whether the record is skipped since its failure is covered by a waiver."""
    covered = any(each.state is WaiverState.WAIVED for each in record.waivers)
    return covered and record.verdict is Verdict.SKIP


def _targets_outcome(report: Report) -> str:
    if not report.records:
        return "no target was judged"
    parts = []
    for verdict in GRAVEST_FIRST:
        names = [record.target for record in report.records if record.verdict is verdict and not waived(record)]
        if not names:
            continue
        named = verdict in {Verdict.FAIL, Verdict.INCONCLUSIVE}
        parts.append(f"{len(names)} {PHRASES[verdict]}" + (f" ({', '.join(names)})" if named else ""))
    names = [record.target for record in report.records if waived(record)]
    if names:
        parts.append(f"{len(names)} waived ({', '.join(names)})")
    return f"of {count(len(report.records), 'target')}, {', '.join(parts)}"


def _golden_outcome(report: Report) -> str:
    verdicts = [result.verdict for result in report.golden if result.verdict is not None]
    return f"; held against the golden: {PHRASES[worst(verdicts)]}" if report.golden else ""


def golden(report: Report) -> tuple[GoldenResult, ...]:
    """What is worth reading of the golden: every verdict, and whatever has moved."""
    return tuple(result for result in report.golden if result.verdict is not None or result.moved)


def sentence(report: Report) -> str:
    """The verdict in one sentence, which starts with the verdict's word."""
    return f"{str(report.verdict).upper()}: {subject(report)}: {outcome(report)}"


def to_read(report: Report) -> tuple[Record, ...]:
    """The records that need reading: failed first, then inconclusive, in the order of the report."""
    return tuple(
        record
        for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE)
        for record in report.records
        if record.verdict is verdict
    )


def reasons(record: Record) -> tuple[str, ...]:
    """Every message of the record: its own, explanations, those of failed or inconclusive results that add to it."""
    found = [record.message, *record.explanations]
    for name, results in (
        ("output", record.numeric),
        ("decision", record.decisions),
        ("batch", _first_sizes(record.shapes)),
        ("behaviour", record.behaviour),
    ):
        for result in results:
            if result.verdict not in {Verdict.FAIL, Verdict.INCONCLUSIVE}:
                continue
            text = result.message or getattr(result, "detail", None)
            if text and text not in record.message:
                found.append(f"{name} {_label(result)}: {text}")
    found += speed_reasons(record)
    found += budgets.reasons(record)
    more = len(record.shapes) - len(_first_sizes(record.shapes))
    found += [f"and {count(more, 'more size')} of the sweep: all are in the details"] if more else []
    return tuple(text for text in found if text)


def hazard(found: Hazard) -> str:
    """A hazard in one line, without its source: `model.py:41 in encoder.0: reads … (affects trace, export)`."""
    inside = f" in {found.module}" if found.module else ""
    affects = f" (affects {', '.join(found.affects)})" if found.affects else ""
    return f"{found.where}{inside}: {found.what}{affects}"


def _first_sizes(results: tuple[ShapeResult, ...]) -> tuple[ShapeResult, ...]:
    """Every batch size, and the first sizes of other symbols that fail: the rest mostly repeats them."""
    failed = [each for each in results if each.sizes and each.verdict is Verdict.FAIL]
    return tuple(each for each in results if each not in failed[SHOWN_SIZES:])


def _label(result: NumericResult | DecisionResult | ShapeResult | BehaviourResult) -> str:
    if isinstance(result, NumericResult):
        return result.output
    if isinstance(result, DecisionResult):
        return f"{metric_words(result.metric)} of {result.output}"
    if isinstance(result, ShapeResult):
        return result.shape
    return f"({metric_words(result.kind)})"
