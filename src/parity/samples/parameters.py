"""Which value of a sample is which parameter of `forward`, where there is no signature to say it."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from parity.errors import SampleError
from parity.samples.rows import LABELS, Columns, Key, Source, is_label, listed
from parity.samples.values import array_of

_NAME = re.compile(r"[A-Za-z_][\w.]*")
_NUMBER = re.compile(r"len|size|num|count|step|time|ids?$|ind|^t$|class|lang|speak|scale|rate", re.IGNORECASE)
"""Parameters that take one integer a sample. Any other with a default is more often left to it than given a label."""


def matched(source: Source, names: Sequence[str] | None) -> Iterator[tuple[dict[str, Any], str]]:
    """The values of every sample by the input's name, and where the sample is.

    Args:
        source: The samples; labels beside them are left out.
        names: The parameters of `forward` in order, the last of which may have defaults. Values without names get
            them; of those with names, the ones that are parameters are taken. None where they are not known.

    Raises:
        SampleError: there are more values than parameters, or none has the name of one.
    """
    if not isinstance(source, Columns):
        for row in source.items:
            chosen = _inputs(list(row.values), names, _last(row.values), row.place)
            yield {name: row.values[key] for name, key in chosen.items()}, row.place
        return
    last = list(source.arrays.values())[-1:]
    kind = _last({0: next(iter(last[0]))}) if last and last[0].shape and last[0].shape[0] else _Last.INPUT
    chosen = _inputs(list(source.arrays), names, kind, source.where)
    columns = [source.arrays[key] for key in chosen.values()]
    counts = {name: (source.arrays[key].shape or (0,))[0] for name, key in chosen.items()}
    if len(set(counts.values())) > 1:
        raise SampleError("the inputs do not have equally many samples", where=source.where, got=str(counts))
    for index, values in enumerate(zip(*columns, strict=True)):
        yield dict(zip(chosen, values, strict=True)), f"{source.where}, sample {index}"


class _Last(enum.Enum):
    """What the last of several values without names is."""

    INPUT = "an input"
    NUMBER = "an integer, which is a label unless a parameter of forward takes one"
    OTHER = "nothing that an input can be"


def _last(values: Mapping[Key, Any]) -> _Last:
    last = next(reversed(list(values.values())), None)
    if last is None or isinstance(last, str | bytes | Mapping):
        return _Last.OTHER
    return _Last.NUMBER if is_label(last) and not np.shape(array_of(last, "")) else _Last.INPUT


def _inputs(keys: list[Key], names: Sequence[str] | None, last: _Last, where: str) -> dict[str, Key]:
    """Which value is which input, by the input's name."""
    if all(isinstance(key, int) for key in keys):
        return _placed(keys, names, last, where)
    inputs = [str(key) for key in keys if key not in LABELS or (names is not None and key in names)]
    if names is None:
        odd = next((name for name in inputs if not _NAME.fullmatch(name)), None)
        if odd is not None or not inputs:
            raise SampleError("no input can have this name", where=where, allowed="letters, digits, _ and .",
                              got=repr(odd) if odd else "no array but labels",
                              hint="rename the array")  # fmt: skip
        return {name: name for name in inputs}
    known = [name for name in names if name in inputs]
    if known:
        return {name: name for name in known}
    if len(inputs) == 1:
        return {names[0]: inputs[0]}
    raise SampleError(
        "none of the samples' arrays has the name of an input", where=where, allowed=", ".join(names),
        got=listed(inputs), hint="name the arrays after the parameters of forward",
    )  # fmt: skip


def _placed(keys: list[Key], names: Sequence[str] | None, last: _Last, where: str) -> dict[str, Key]:
    inputs = keys if len(keys) == 1 or last is _Last.INPUT else keys[:-1]
    if names is None:
        return {"x" if len(inputs) == 1 else f"x{place}": key for place, key in enumerate(inputs)}
    if last is _Last.NUMBER and len(keys) <= len(names) and _NUMBER.search(names[len(keys) - 1]):
        inputs = keys
    if len(inputs) > len(names):
        raise SampleError(
            f"a sample has {len(inputs)} arrays, and forward takes {len(names)}", where=where,
            allowed=", ".join(names), got=f"{len(inputs)} arrays without names",
            hint="give them names: a dictionary of arrays, or a .npz; or write --input yourself",
        )  # fmt: skip
    return dict(zip(names, inputs, strict=False))
