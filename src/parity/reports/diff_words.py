"""A comparison of two reports in words, which the terminal and Markdown show alike; plain text, no markup.

What has not changed is counted and not listed, and so is information, unless all is asked for. Cells that share
the reason why they cannot be told are one row, and noise is such a reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from parity.diffing import Change, Diff, Difference, Reading, Trend
from parity.reports.numbers import ABSENT, count, milliseconds, number, share, size
from parity.reports.summary import metric_words

HEADS: tuple[tuple[Trend | None, str], ...] = (
    (Trend.WORSE, "Worse"),
    (Trend.UNKNOWN, "Cannot be told"),
    (Trend.BETTER, "Better"),
    (Trend.SAME, "The same"),
    (None, "For information"),
)
"""The sections, in the order in which they are read."""

_QUIET = (Trend.SAME, None)
_FEWEST = 3
"""So many cells with one reason become one row."""

_EVIDENCE = {"latency": "processes", "decision": "samples"}
"""What more of it would tell a change of this kind."""

_OTHERWISE = {"latency": "a quieter machine", "decision": "a much larger set of samples"}
_NOISE = "each may be no change at all"

_DIFFERENCES = frozenset({"share", "dB"})


@dataclass(frozen=True, kw_only=True)
class Row:
    """One change, or several that share a reason; every text is ready to show.

    `old`, `new` and `change` are a value and its interval, or a verdict and where and how it ended.
    """

    target: str
    what: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    change: tuple[str, ...]
    detail: str


@dataclass(frozen=True, kw_only=True)
class Section:
    """The rows of one trend, and how many cells they stand for."""

    trend: Trend | None
    head: str
    cells: int
    rows: tuple[Row, ...]


def sections(diff: Diff, *, everything: bool = False) -> tuple[Section, ...]:
    """What is to be listed; `everything` lists what has not changed and information as well."""
    found = []
    for trend, head in HEADS:
        changes = [change for change in diff.changes if change.verdict is trend]
        if changes and (everything or trend not in _QUIET):
            rows = map(_row, changes) if everything else _grouped(changes)
            found.append(Section(trend=trend, head=head, cells=len(changes), rows=tuple(_said_once(rows))))
    return tuple(found)


def sentence(diff: Diff) -> str:
    """The outcome in one sentence, which starts with its word."""
    names = {diff.old.model: None, diff.new.model: None}
    counts = []
    for trend, words in ((Trend.WORSE, "worse"), (Trend.UNKNOWN, "cannot be told"), (Trend.BETTER, "better")):
        found = sum(change.verdict is trend for change in diff.changes)
        counts += [f"{found} {words}"] if found else []
    same = sum(change.verdict is Trend.SAME for change in diff.changes)
    counts.append(f"{same} the same" if counts else f"{count(same, 'cell')}, all the same")
    return f"{str(diff.verdict).upper()}: {' against '.join(names)}: {', '.join(counts)}"


def unlisted(diff: Diff) -> str:
    """What is counted and not listed, and how to see it; empty where there is nothing."""
    same, facts = (sum(change.verdict is trend for change in diff.changes) for trend in _QUIET)
    parts = [f"{same} the same"] if same else []
    parts += [f"{facts} for information"] if facts else []
    return f"not listed: {' and '.join(parts)}; --all lists them" if parts else ""


def sides(diff: Diff) -> tuple[tuple[str, str], ...]:
    """Which reports these are: `old` and `new`, each with its model, day, version and verdict."""
    return tuple(
        (name, f"{side.model}, {side.created}, parity {side.parity}: {side.verdict}")
        for name, side in (("old", diff.old), ("new", diff.new))
    )


def difference(found: Difference) -> str:
    """`versions, torch: 2.14.0, now 2.14.1`, with what it means for what follows."""
    consequence = f" ({found.consequence})" if found.consequence else ""
    return f"{found.kind}, {found.name}: {found.old}, now {found.new}{consequence}"


def _grouped(changes: Sequence[Change]) -> Iterable[Row]:
    """Changes with the same reason in one row, where the first of them stands."""
    together: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        together.setdefault(_reason(change), []).append(change)
    told: set[tuple[str, str]] = set()
    for change in changes:
        reason = _reason(change)
        if not reason[1] or len(together[reason]) < _FEWEST:
            yield _row(change)
        elif reason not in told:
            told.add(reason)
            yield _group_row(together[reason], reason[1])


def _said_once(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows without what another one of the same target has said: a verdict's message is that of its part."""
    said: dict[str, str] = {}
    for row in rows:
        known = said.get(row.target, "")
        said[row.target] = f"{known}\n{row.detail}"
        yield replace(row, detail="") if row.detail in known else row


def _reason(change: Change) -> tuple[str, str]:
    """The kind of change, and why it cannot be told; nothing where it can, or where it stands for itself."""
    if change.verdict is not Trend.UNKNOWN:
        return change.what, ""
    if change.change is None:
        return change.what, change.detail
    none = 0.0 if change.unit in _DIFFERENCES else 1.0
    low, high = change.change.low, change.change.high
    noise = low is not None and high is not None and low <= none <= high
    return change.what, _NOISE if noise else ""


def _group_row(group: Sequence[Change], reason: str) -> Row:
    targets = {change.target for change in group}
    target = next(iter(targets)) if len(targets) == 1 else count(len(targets), "target")
    shared = all(change.where == group[0].where for change in group)
    what = f"{_what(group[0]) if shared else group[0].what}, {count(len(group), 'cell')}"
    values = [float(change.change.value) for change in group if change.change]
    change = tuple(_size(value, group[0].unit) for value in (min(values), max(values))) if values else ()
    detail = "; ".join(filter(None, (reason, _advice(group) if reason == _NOISE else "")))
    return Row(
        target=target or "report", what=what, old=(), new=(), change=(" to ".join(change),) if change else (),
        detail=detail,
    )  # fmt: skip


def _row(change: Change) -> Row:
    advice = _advice([change]) if change.change and change.verdict is Trend.UNKNOWN else ""
    return Row(
        target=change.target or "report",
        what=_what(change),
        old=_reading(change.old, change.unit),
        new=_reading(change.new, change.unit),
        change=_change(change),
        detail="; ".join(filter(None, (advice, change.detail))),
    )


def _advice(changes: Sequence[Change]) -> str:
    """What would tell: so many times the evidence, or something else where no amount would."""
    what = changes[0].what
    if what not in _EVIDENCE:
        return ""
    efforts = sorted(change.effort for change in changes if change.effort is not None)
    wanted = [f"{efforts[0]:.2g}" if len(efforts) == 1 else f"{efforts[0]:.2g} to {efforts[-1]:.2g}"] if efforts else []
    wanted = [f"{each} times the {_EVIDENCE[what]}" for each in wanted]
    wanted += [_OTHERWISE[what]] if len(efforts) < len(changes) else []
    return f"{' or '.join(wanted)} would tell"


def _what(change: Change) -> str:
    """What a cell is of: `error of logits`, `latency, batch 8, 1 thread`."""
    where = change.where
    if change.what == "decision":
        return f"{metric_words(str(where['metric']))} of {where['output']}"
    if change.what == "numeric":
        return f"error of {where['output']}"
    if change.what in {"behaviour", "golden"}:
        return f"{change.what}: {metric_words(str(where['kind']))} of {where['name']}"
    what = f"best {change.unit}" if change.what == "throughput" else change.what
    return ", ".join([what, *(_place(name, value) for name, value in where.items())])


def _place(name: str, value: str | int) -> str:
    if name == "threads" and isinstance(value, int):
        return count(value, "thread")
    if name == "batch":
        return f"batch {value}"
    return metric_words(str(value)) if isinstance(value, str) else f"{name}={value}"


def _reading(reading: Reading | None, unit: str) -> tuple[str, ...]:
    if reading is None:
        return (ABSENT,)
    value = reading.value
    if isinstance(value, str):
        word, _, ended = value.partition(" (")
        return (word, ended.removesuffix(")")) if ended else (word,)
    if unit == "bytes":
        return (size(int(value)),)
    if unit in {"ms", "share"}:
        text = milliseconds(value) if unit == "ms" else share(value)
    else:
        text = number(value) + (f" {unit}" if unit in {"floors", "dB", "values"} else "")
    return (text, *_interval(reading))


def _change(change: Change) -> tuple[str, ...]:
    """New over old as `1.12 times`, new minus old as `-0.012`, and its interval."""
    if change.change is None:
        return ()
    return (_size(float(change.change.value), change.unit), *_interval(change.change))


def _size(value: float, unit: str) -> str:
    return f"{value:+.3g}" if unit in _DIFFERENCES else f"{number(value)} times"


def _interval(reading: Reading) -> tuple[str, ...]:
    if reading.low is None or reading.high is None:
        return ()
    return (f"{number(reading.low)}..{number(reading.high)}",)
