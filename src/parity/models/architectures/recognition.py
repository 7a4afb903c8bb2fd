"""Which torchvision architecture a bare state dict belongs to, from its keys and shapes alone. No torch is loaded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parity.models.architectures.index import more_templates, read_index
from parity.models.architectures.references import Reference
from parity.models.architectures.templates import (
    Fit,
    Shapes,
    Template,
    missing_counters,
    without_counters,
)
from parity.models.files.history import fit_names_of_any_age
from parity.models.files.keys import Renamed

UNSEEN: Mapping[str, str] = {"googlenet": "transform_input", "inception_v3": "transform_input"}
"""Flags that change what an architecture computes and leave no trace in its weights. torchvision's own weights of these
two want another normalization, which the flag adds; networks trained from scratch lack it. So neither is assumed."""

NEAR = 0.5
"""The share of a state dict's keys that have to fit the nearest architecture for it to be worth naming."""

CANDIDATES = 8
"""How many of the architectures with the most shapes in common are tried key by key for the nearest one: with prefixes
looked for, trying each takes seconds."""

AVERAGED = "n_averaged"
"""How many models an average of `torch.optim.swa_utils` is made of: no weight."""


@dataclass(frozen=True)
class Match:
    """The one architecture that fits.

    Attributes:
        reference: What builds it, `torchvision:resnet18(num_classes=10)`.
        removed: Prefixes that had to be removed, such as `module.`.
        missing: Counters of batch norms that the state dict lacks; eval mode does not read them.
        old: Keys that have the name of an older torchvision.
        notes: What a reader of the report should know.
    """

    reference: str
    removed: tuple[str, ...]
    missing: tuple[str, ...]
    old: tuple[str, ...]
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
            return f"they fit {' and '.join(self.alternatives)}, which do not compute the same{self._why}"
        if self.nearest is None:
            return "no torchvision architecture has even half of their names and shapes"
        return f"the nearest is {self.nearest}: {self.fitting} of the {self.keys} keys fit, and it has {self.total}"

    @property
    def _why(self) -> str:
        flags = [flag for flag in UNSEEN.values() if any(f"{flag}=True" in each for each in self.alternatives)]
        return f"; {flags[0]}=True where training began from torchvision's own weights" if flags else ""

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
    bare = _weights(shapes)
    for template in templates:
        if len(template.shapes) == len(bare):
            renamed, old = fit_names_of_any_age(bare, template.shapes)
            named = {renamed.names[key]: shape for key, shape in bare.items()}
            fits = _complete(templates, named)
            if fits:
                references = [each for found, fit in fits for each in _functions(found.reference(fit.values))]
                return _decided(references, shapes, renamed, old)
    return _nearest(templates, bare)


def _weights(shapes: Shapes) -> Shapes:
    """Without the counters of batch norms, and without the one that an averaged model keeps beside its module."""
    averaged = shapes.get(AVERAGED) == () and any(key.startswith("module.") for key in shapes)
    return {key: shape for key, shape in without_counters(shapes).items() if not (averaged and key == AVERAGED)}


def _complete(templates: Sequence[Template], shapes: Shapes) -> list[tuple[Template, Fit]]:
    same_keys = (template for template in templates if template.shapes.keys() == shapes.keys())
    fits = ((template, template.fit(shapes)) for template in same_keys)
    return [(template, fit) for template, fit in fits if template.is_complete(fit, shapes)]


def _functions(reference: Reference) -> list[str]:
    """The references with each value of a flag that the weights do not tell, else the reference itself."""
    flag = UNSEEN.get(reference.name)
    return [str(reference.with_arguments(**{flag: value})) for value in (True, False)] if flag else [str(reference)]


def _decided(references: list[str], shapes: Shapes, renamed: Renamed, old: tuple[str, ...]) -> Match | NoMatch:
    if len(references) > 1:
        return NoMatch(alternatives=tuple(references))
    note = f"recognised as {references[0]} by the {len(shapes)} names and shapes of the weights"
    return Match(references[0], renamed.removed, missing_counters(shapes), old, (note,))


def _nearest(templates: Sequence[Template], shapes: Shapes) -> NoMatch:
    """The template with the largest share of keys in common, of all that either has."""
    best, share = NoMatch(keys=len(shapes)), 0.0
    for template in sorted(templates, key=lambda each: _likeness(each, shapes), reverse=True)[:CANDIDATES]:
        fit, common = _closeness(template, shapes)
        if common > share and fit.fitting >= NEAR * len(shapes):
            reference = str(template.reference(fit.values))
            best, share = NoMatch(reference, fit.fitting, len(template.shapes), len(shapes)), common
    return best


def _likeness(template: Template, shapes: Shapes) -> float:
    """The share of shapes in common, whatever the keys: cheap, and the same under every prefix."""
    common = sum((Counter(template.shapes.values()) & Counter(shapes.values())).values())
    return common / (len(template.shapes) + len(shapes) - common)


def _closeness(template: Template, shapes: Shapes) -> tuple[Fit, float]:
    renamed, _old = fit_names_of_any_age(shapes, template.shapes)
    named = {renamed.names[key]: shape for key, shape in shapes.items()}
    fit = template.fit(named)
    return fit, template.share(fit, named)


def fitted(reference: Reference, shapes: Shapes) -> Reference:
    """A torchvision reference with the arguments that make it fit a state dict as well as it can.

    Arguments that were written stay. A name that no template is made of is returned as it is.
    """
    best, share = reference, 0.0
    for template in read_index()[1]:
        wanted = all(reference.options.get(key, value) == value for key, value in template.arguments)
        if template.name == reference.name and wanted:
            fit, common = _closeness(template, _weights(shapes))
            if common > share:
                best, share = reference.with_arguments(**template.reference(fit.values).options), common
    return best
