"""One family of errors, written for the person who reads them at midnight.

Every error says what failed; where it can, it adds where, what was allowed, what came, and the next
command to type. The command line prints them without a traceback and exits with status 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping


class ParityError(Exception):
    """A request that cannot be met as given.

    Args:
        what: What failed, one sentence without a final full stop.
        where: The file, setting, model or target that it concerns.
        allowed: What would have been accepted.
        got: What came instead.
        hint: What to do next, preferably a command.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        allowed: str | None = None,
        got: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.allowed = allowed
        self.got = got
        self.hint = hint
        super().__init__(what)

    def __str__(self) -> str:
        labelled = (("where", self.where), ("allowed", self.allowed), ("got", self.got), ("next", self.hint))
        return "\n".join([self.what, *(f"  {label + ':':<9}{text}" for label, text in labelled if text)])

    @property
    def line(self) -> str:
        """All of it in one line, for a record's message."""
        labelled = (("allowed", self.allowed), ("got", self.got), ("next", self.hint))
        return "; ".join([self.what, *(f"{label}: {text}" for label, text in labelled if text)])

    def __reduce__(self) -> tuple[object, ...]:
        labelled = {"where": self.where, "allowed": self.allowed, "got": self.got, "hint": self.hint}
        return (_rebuild, (type(self), self.what, labelled))


def _rebuild(kind: type[ParityError], what: str, labelled: Mapping[str, str | None]) -> ParityError:
    return kind(what, **labelled)


class UsageError(ParityError):
    """The command, the call or the signature does not make sense."""


class SettingsError(ParityError):
    """`parity.toml` or `[tool.parity]` is wrong."""


class ModelError(ParityError):
    """The model cannot be read, built or run."""


class SampleError(ParityError):
    """Samples cannot be read, or do not fit the signature."""


class GoldenError(ParityError):
    """A golden is missing, damaged or of another model."""


class StorageError(ParityError):
    """A file cannot be written: a full disk, a quota, a read-only file system, or a refusal."""


class UnknownName(UsageError):  # noqa: N818  # reads as what it is where it is caught
    """A name that no registry holds."""


class Unsupported(ParityError):  # noqa: N818  # a statement about a model, not an error
    """An exporter or a runtime says that it does not apply to this model. It is not a failure."""


_KNOWN = 24
"""Names that a message lists: as many as there are exporters, dtypes and registered models, and no folder of files."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The nearest known names as a sentence, or the first of them where none is near."""
    choices = sorted(known)
    near = difflib.get_close_matches(name, choices, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(repr(each) for each in near)}?"
    more = f" and {len(choices) - _KNOWN} more" if len(choices) > _KNOWN else ""
    return f"known: {', '.join(choices[:_KNOWN])}{more}" if choices else "none is registered"
