"""Which torchvision architecture a bare state dict belongs to, from its keys and shapes alone. No torch is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from parity.models.architectures.history import modern_names
from parity.models.architectures.index import more_templates, read_index
from parity.models.architectures.references import Reference
from parity.models.architectures.templates import (
    Fit,
    Shapes,
    Template,
    missing_counters,
    without_counters,
)

UNSEEN: Mapping[str, str] = {"googlenet": "transform_input", "inception_v3": "transform_input"}
"""Flags that change what an architecture computes and leave no trace in its weights. torchvision's own weights of these
two want another normalization, which the flag adds; networks trained from scratch lack it. So neither is assumed."""

NEAR = 0.5
"""The share of a state dict's keys that have to fit the nearest architecture for it to be worth naming."""


@dataclass(frozen=True)
class Match:
    """The one architecture that fits.

    Attributes:
        reference: What builds it, `torchvision:resnet18(num_classes=10)`.
        prefix: What was in front of every key, such as `module.`.
        missing: Counters of batch norms that the state dict lacks; eval mode does not read them.
        renamed: Old name to today's name, without the prefix, where the file has an old layout.
        notes: What a reader of the report should know.
    """

    reference: str
    prefix: str
    missing: tuple[str, ...]
    renamed: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class NoMatch:
    """No architecture fits, or more than one does.

    Attributes:
        nearest: The architecture that fits best, or None where none has half of the keys.
        fitting: How many of the state dict's keys are in it, with a shape that fits.
        total: How many keys the nearest architecture has.
        keys: How many keys the state dict has; counters of batch norms are left out of all three.
        alternatives: Every architecture that fits, where they compute different things.
    """

    nearest: str | None = None
    fitting: int = 0
    total: int = 0
    keys: int = 0
    alternatives: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.alternatives:
            return f"they fit {' and '.join(self.alternatives)}, which do not compute the same"
        if self.nearest is None:
            return "no torchvision architecture has even half of their names and shapes"
        return f"the nearest is {self.nearest}: {self.fitting} of the {self.keys} keys fit, and it has {self.total}"

    @property
    def hint(self) -> str | None:
        """Ready `--arch` lines where several fit."""
        return " or ".join(f'--arch "{each}"' for each in self.alternatives) or None


def recognise(shapes: Mapping[str, tuple[int, ...]]) -> Match | NoMatch:
    """The architecture whose every key has its shape in a state dict, and that leaves none over.

    Args:
        shapes: Key to shape, as the file has them; prefixes are removed here.
    """
    version, shipped = read_index()
    found = _among(shipped, shapes)
    if isinstance(found, Match) or found.alternatives:
        return found
    more = more_templates(shipped, version)
    return _among([*shipped, *more], shapes) if more else found


def _among(templates: Sequence[Template], shapes: Shapes) -> Match | NoMatch:
    known = {key for template in templates for key in template.shapes}
    for prefix, stripped in _stripped(without_counters(shapes)):
        for renamed in ({}, modern_names(stripped, known)):
            named = {renamed.get(key, key): shape for key, shape in stripped.items()}
            fits = _complete(templates, named)
            if fits:
                references = [each for template, fit in fits for each in _functions(template.reference(fit.values))]
                return _decided(references, shapes, prefix, renamed)
    return _nearest(templates, shapes)


def _complete(templates: Sequence[Template], shapes: Shapes) -> list[tuple[Template, Fit]]:
    same_keys = (template for template in templates if template.shapes.keys() == shapes.keys())
    fits = ((template, template.fit(shapes)) for template in same_keys)
    return [(template, fit) for template, fit in fits if template.is_complete(fit, shapes)]


def _functions(reference: Reference) -> list[str]:
    """The references with each value of a flag that the weights do not tell, else the reference itself."""
    flag = UNSEEN.get(reference.name)
    return [str(reference.with_arguments(**{flag: value})) for value in (True, False)] if flag else [str(reference)]


def _decided(references: list[str], shapes: Shapes, prefix: str, renamed: Mapping[str, str]) -> Match | NoMatch:
    if len(references) > 1:
        return NoMatch(alternatives=tuple(references))
    missing = missing_counters(shapes)
    notes = [f"recognised as {references[0]} by the {len(shapes)} names and shapes of the weights"]
    if missing:
        notes.append(
            f"{len(missing)} counters of batch norms (num_batches_tracked) are not in the file; eval mode reads none"
        )
    if renamed:
        old, new = next(iter(renamed.items()))
        notes.append(f"{len(renamed)} names are those of an older torchvision, such as {old} for {new}")
    return Match(references[0], prefix, missing, renamed, tuple(notes))


def _nearest(templates: Sequence[Template], shapes: Shapes) -> NoMatch:
    """The template with the largest share of keys in common, of all that either has."""
    best, share = NoMatch(keys=len(without_counters(shapes))), 0.0
    for _prefix, stripped in _stripped(without_counters(shapes)):
        for template in templates:
            fit = template.fit(stripped)
            common = template.share(fit, stripped)
            if common > share and fit.fitting >= NEAR * len(stripped):
                reference = str(template.reference(fit.values))
                best = NoMatch(reference, fit.fitting, len(template.shapes), len(stripped))
                share = common
    return best


def fitted(reference: Reference, shapes: Shapes) -> Reference:
    """A torchvision reference with the arguments that make it fit a state dict as well as it can.

    Arguments that were written stay. A name that no template is made of is returned as it is.
    """
    templates = [
        template
        for template in read_index()[1]
        if template.name == reference.name
        and all(reference.options.get(key, value) == value for key, value in template.arguments)
    ]
    best, share = reference, 0.0
    for _prefix, stripped in _stripped(without_counters(shapes)):
        for template in templates:
            fit = template.fit(stripped)
            if template.share(fit, stripped) > share:
                share = template.share(fit, stripped)
                best = reference.with_arguments(**template.reference(fit.values).options)
    return best


_WRAPPERS = ("module.", "_orig_mod.", "model.", "net.")


def _stripped(shapes: Shapes) -> Iterator[tuple[str, Shapes]]:
    """The state dict as it is, and without each prefix that all of its keys have."""
    prefix = ""
    yield prefix, shapes
    while shapes:
        common = next((each for each in _WRAPPERS if all(key.startswith(each) for key in shapes)), None)
        if common is None:
            return
        prefix += common
        shapes = {key.removeprefix(common): shape for key, shape in shapes.items()}
        yield prefix, shapes
