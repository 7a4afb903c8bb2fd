"""Weights that do not fit a module: which keys, and a short table of them side by side."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import takewhile

from parity.errors import UsageError, did_you_mean
from parity.models.files.keys import prefixes_alike
from parity.models.wording import listed, printable

ROWS = 8
"""Rows of the table that a message shows."""

_NEAR = 0.6
"""Similarity from which a name of the file is shown beside the one that is missing: `difflib`'s own."""

_NAMED = 3
"""Keys that a hint spells out."""

Shapes = Mapping[str, str]
"""Names of weights, with their shapes as text (`[64, 3, 7, 7]`) or what they are instead of a tensor."""


@dataclass(frozen=True)
class Misfits:
    """What a module and a file do not share. Keys are those of the module, and of the file after prefixes."""

    module: Shapes
    file: Shapes
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    wrong: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.unexpected or self.wrong)

    def without(self, keys: Iterable[str]) -> Misfits:
        """The same without some of the keys."""
        gone = frozenset(keys)
        missing, unexpected, wrong = (
            tuple(key for key in part if key not in gone) for part in (self.missing, self.unexpected, self.wrong)
        )
        return Misfits(self.module, self.file, missing, unexpected, wrong)

    @property
    def keys(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.missing, *self.wrong, *self.unexpected)


def misfits(module: Shapes, file: Shapes) -> Misfits:
    """Hold the weights of a file against those of a module, each in its own order."""
    return Misfits(
        module,
        file,
        missing=tuple(key for key in module if key not in file),
        unexpected=tuple(key for key in file if key not in module),
        wrong=tuple(key for key in module if key in file and module[key] != file[key]),
    )


def named_by(patterns: Sequence[str], keys: Iterable[str]) -> frozenset[str]:
    """The keys that patterns such as `fc.*` name."""
    return frozenset(key for key in keys if any(fnmatchcase(key, pattern) for pattern in patterns))


def left_out(found: Misfits, patterns: Sequence[str]) -> tuple[str, ...]:
    """The keys that patterns such as `fc.*` let be left out: missing, unexpected, or of another shape.

    Raises:
        UsageError: a pattern names no key, or only keys that fit and are loaded.
    """
    for pattern in patterns:
        if any(fnmatchcase(key, pattern) for key in found.keys):
            continue
        fits = [key for key in found.module if fnmatchcase(key, pattern)]
        raise UsageError(
            f"nothing is left out that {pattern!r} would have to allow",
            where="--allow-missing",
            got=f"{len(fits)} keys that are all in the file and fit" if fits else "no key of that name",
            hint="leave it out" if fits else did_you_mean(pattern, (*found.module, *found.file)),
        )
    named = named_by(patterns, found.keys)
    return tuple(key for key in found.keys if key in named)


def table(found: Misfits) -> str:
    """A few rows: what the module has, what the file has in its place, and what is wrong with it."""
    rows = [(f"{key} {found.module[key]}", f"{key} {found.file[key]}", "another shape") for key in found.wrong]
    spare = list(found.unexpected)
    for key in found.missing:
        near = _nearest(key, found, spare) if len(rows) < ROWS else None
        if near is not None:
            spare.remove(near)
        rows.append((f"{key} {found.module[key]}", f"{near} {found.file[near]}" if near else "", "missing"))
    rows += [("", f"{key} {found.file[key]}", "unexpected") for key in spare]
    shown = rows[:ROWS]
    widths = [max(len(row[column]) for row in [("in the module", "in the file", ""), *shown]) for column in (0, 1)]
    lines = [("in the module", "in the file", ""), *shown]
    text = ["  ".join((row[0].ljust(widths[0]), row[1].ljust(widths[1]), row[2])).rstrip() for row in lines]
    text = [printable(line) for line in text]
    if len(rows) > ROWS:
        text.append(f"and {len(rows) - ROWS} more")
    return "\n".join(text)


def _nearest(key: str, found: Misfits, spare: Sequence[str]) -> str | None:
    """The name in the file that is most like a missing one; one of the same shape before any other."""
    same = [other for other in spare if found.file[other] == found.module[key]]
    for choices in (same, list(spare)):
        near = difflib.get_close_matches(key, choices, n=1, cutoff=_NEAR)
        if near:
            return near[0]
    return None


def counted(found: Misfits) -> str:
    """`1 missing, 2 of another shape`."""
    parts = (("missing", found.missing), ("unexpected", found.unexpected), ("of another shape", found.wrong))
    return ", ".join(f"{len(keys)} {what}" for what, keys in parts if keys)


_AVERAGES = frozenset({"ema", "average", "averaged", "avg", "swa", "shadow", "teacher", "target", "momentum"})
"""Words in the names of networks that follow the one that is trained."""

_CHANGED: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"(^|\.)_packed_params(\.|$)"),
        "these weights are quantized: judge the float model, and give the quantized one as --artifact",
    ),
    (
        re.compile(r"(^|[._])lora_(embedding_)?[AB](\.|$)"),
        "these are adapters (LoRA) of a model: save the state_dict of model.merge_and_unload() where they were trained",
    ),
    (
        re.compile(r"(^|\.)\w+_mask$"),
        "these weights are pruned by torch.nn.utils.prune: call prune.remove(module, name) before they are saved",
    ),
)
"""Keys that only a module has that was changed after it was made, and how its owner gets plain weights."""


def advice(found: Misfits) -> str:
    """What most likely went wrong, from which keys do not fit."""
    return _changed(found) or _of_several(found) or _plain_advice(found)


def _changed(found: Misfits) -> str | None:
    """What to do with the weights of a module that was changed after it was made."""
    for pattern, said in _CHANGED:
        keys = [key for key in found.unexpected if pattern.search(key)]
        pruned = any(key.endswith("_mask") and f"{key.removesuffix('_mask')}_orig" in found.file for key in keys)
        if keys and (pruned or not keys[0].endswith("_mask")):
            return said
    return None


def _of_several(found: Misfits) -> str | None:
    """What to do with a state_dict that holds several networks which fit equally well."""
    alike = prefixes_alike(found.file, found.module)
    if not alike:
        return None
    kept, *others = sorted(alike, key=lambda prefix: (_is_average(prefix), alike.index(prefix)))
    allowing = " ".join(f"--allow-missing '{prefix}*'" for prefix in others)
    return f"the keys fit under each of {listed(map(repr, alike))}; to take those under {kept!r}: {allowing}"


def _is_average(prefix: str) -> bool:
    """Whether a prefix is what copies that follow the trained weights are called."""
    return bool(_AVERAGES & set(re.split(r"[._]", prefix)))


def _plain_advice(found: Misfits) -> str:
    if not found.file.keys() & found.module.keys():
        wrapped = _wrapped_in(found)
        if wrapped:
            return f"the module holds these weights under {wrapped!r}: give its inner module as --arch"
        return "not one key fits: this file belongs to another architecture, check --arch"
    heads = list(dict.fromkeys(key.rpartition(".")[0] for key in found.wrong))
    if found.wrong and not found.missing and not found.unexpected and len(heads) <= _NAMED and all(heads):
        allowing = " ".join(f"--allow-missing '{head}.*'" for head in heads)
        return (
            f"only {', '.join(heads)} differ{'s' if len(heads) == 1 else ''}, as with another number of classes: "
            f"give --arch that number, or keep what --arch makes of it: {allowing}"
        )
    if found.missing and not found.wrong and not found.unexpected:
        return f"nothing is loaded in part; to keep what --arch makes of them: {_allowing(found.missing, found.module)}"
    if found.unexpected and not found.wrong and not found.missing:
        return f"check --arch and its arguments; to leave them out: {_allowing(found.unexpected, found.file)}"
    return "check --arch and its arguments; nothing is loaded in part"


def _allowing(keys: Sequence[str], among: Collection[str]) -> str:
    """The option that allows these keys and no other: one pattern where they are a whole part of what they are in."""
    parents = [key.split(".")[:-1] for key in keys]
    shared = takewhile(lambda parts: len(set(parts)) == 1, zip(*parents, strict=False))
    prefix = ".".join(parts[0] for parts in shared)
    part = [key for key in among if prefix and key.startswith(f"{prefix}.")]
    names = [f"{prefix}.*"] if len(part) == len(keys) > 1 else list(keys[:_NAMED])
    more = " …" if len(names) == _NAMED < len(keys) else ""
    return " ".join(f"--allow-missing '{name}'" for name in names) + more


def _wrapped_in(found: Misfits) -> str | None:
    """The prefix that the module's keys have before the names of the file, or None."""
    if not found.file:
        return None
    first = next(iter(found.file))
    prefixes = {key[: -len(first)] for key in found.module if key.endswith(f".{first}")}
    return next((prefix for prefix in prefixes if all(f"{prefix}{key}" in found.module for key in found.file)), None)
