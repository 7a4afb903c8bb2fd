"""Which input or output of an artifact is which of the model's: by name, then by shape and dtype, then by position."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from parity.models.ports import Port, same_kind, same_shape

NAME, SIMILAR, SHAPE, POSITION = "name", "a similar name", "shape and dtype", "position"
"""The rules, in the order in which they are tried."""

MATCHED = "matched"
"""The kind of behaviour under which a doubtful match is reported."""

_PUNCTUATION = re.compile(r"[^a-z0-9]")
_NUMBERED = re.compile(r"(?::\d+|\.\d+)$")
"""How TensorFlow numbers the outputs of an operator, and TorchScript the values of one name."""

_AFFIXES = re.compile(r"^(?:serving_default_|arg_|l_)|_(?:in|input|out|output)_?$")
"""What converters put around a name: TensorFlow's signatures, torch.compile's locals, and scripts by hand."""


@dataclass(frozen=True)
class Pair:
    """One port of the artifact, the model's name for it, and the rule that found it."""

    own: str
    name: str
    rule: str


@dataclass(frozen=True)
class Matching:
    """What was matched, in the artifact's order, and what was not.

    Attributes:
        pairs: The matches.
        extra: Ports of the artifact that are none of the model's.
        missing: Names of the model that the artifact has no port for.
        doubtful: Pairs matched by position that could as well be exchanged: nothing but their order tells them apart.
    """

    pairs: tuple[Pair, ...]
    extra: tuple[Port, ...]
    missing: tuple[str, ...]
    doubtful: tuple[Pair, ...]


def match_ports(own: Sequence[Port], wanted: Sequence[Port]) -> Matching:
    """Match the ports of an artifact, whose names differ from each other, with the model's.

    A name that is the model's own counts whatever its shape is. A similar one, without regard to case, punctuation
    and what converters put around names, counts where it is the only one on both sides and the dtype fits. Then
    whatever is alone on both sides with its dtype and fixed sizes. The rest goes by position, where as many are
    left on both sides.
    """
    found: dict[int, tuple[int, str]] = {}
    _by_name(own, wanted, found, lambda name: name, NAME)
    for plain in (_plain, _unnumbered, _bare):
        _by_name(own, wanted, found, plain, SIMILAR)
    for exact in (True, False):
        _by_shape(own, wanted, found, exact=exact)
    doubtful = _by_position(own, wanted, found)
    taken = {place for place, _ in found.values()}
    pairs = {mine: Pair(own[mine].name, wanted[place].name, rule) for mine, (place, rule) in sorted(found.items())}
    return Matching(
        pairs=tuple(pairs.values()),
        extra=tuple(port for place, port in enumerate(own) if place not in found),
        missing=tuple(port.name for place, port in enumerate(wanted) if place not in taken),
        doubtful=tuple(pairs[place] for place in doubtful),
    )


def _plain(name: str) -> str:
    return _PUNCTUATION.sub("", name.lower())


def _unnumbered(name: str) -> str:
    return _plain(_NUMBERED.sub("", name))


def _bare(name: str) -> str:
    return _plain(_AFFIXES.sub("", _NUMBERED.sub("", name).lower())) or _plain(name)


_Found = dict[int, tuple[int, str]]
"""By place among the artifact's ports: the place among the model's, and the rule."""


def _left(ports: Sequence[Port], taken: set[int]) -> list[int]:
    return [place for place in range(len(ports)) if place not in taken]


def _open(own: Sequence[Port], wanted: Sequence[Port], found: _Found) -> tuple[list[int], list[int]]:
    return _left(own, set(found)), _left(wanted, {place for place, _ in found.values()})


def _by_name(own: Sequence[Port], wanted: Sequence[Port], found: _Found, key: Callable[[str], str], rule: str) -> None:
    mine, theirs = _open(own, wanted, found)
    ours = Counter(key(own[place].name) for place in mine)
    named = Counter(key(wanted[place].name) for place in theirs)
    places = {key(wanted[place].name): place for place in theirs}
    for place in mine:
        name = key(own[place].name)
        if name in places and ours[name] == named[name] == 1:
            other = places[name]
            if rule == NAME or same_kind(own[place], wanted[other]):
                found[place] = (other, rule)


def _by_shape(own: Sequence[Port], wanted: Sequence[Port], found: _Found, *, exact: bool) -> None:
    """Whatever has one possible counterpart, on either side; each match may leave another one alone."""

    def fits(mine: int, other: int) -> bool:
        one, two = own[mine], wanted[other]
        if not one.known or (exact and None not in (one.dtype, two.dtype) and one.dtype != two.dtype):
            return False
        return same_kind(one, two) and same_shape(one, two)

    while True:
        mine, theirs = _open(own, wanted, found)
        if len(mine) == len(theirs) == 1:
            return  # nothing is left to be told apart
        fitting = [(place, other) for place in mine for other in theirs if fits(place, other)]
        ours, others = Counter(place for place, _ in fitting), Counter(other for _, other in fitting)
        forced = [each for each in fitting if ours[each[0]] == 1 or others[each[1]] == 1]
        # Two that could only be one and the same are told apart by nothing.
        alone = [
            (place, other) for place, other in forced if all((place == one) == (other == two) for one, two in forced)
        ]
        if not alone:
            return
        found.update({place: (other, SHAPE) for place, other in alone})


def _by_position(own: Sequence[Port], wanted: Sequence[Port], found: _Found) -> tuple[int, ...]:
    """Match what is left in order; the places of those that could be exchanged with another."""
    mine, theirs = _open(own, wanted, found)
    optional = [place for place in mine if own[place].optional]
    if len(mine) - len(optional) == len(theirs):  # what may be left out is left out
        mine = [place for place in mine if place not in optional]
    both = list(zip(mine, theirs, strict=False))
    if len(mine) != len(theirs):
        return ()
    found.update({place: (other, POSITION) for place, other in both})

    def fits(place: int, other: int) -> bool:
        return same_kind(own[place], wanted[other]) and same_shape(own[place], wanted[other])

    doubtful = {
        place
        for (one, ours), (two, others) in combinations(both, 2)
        if fits(one, others) and fits(two, ours)
        for place in (one, two)
    }
    return tuple(sorted(doubtful))


def told(matching: Matching) -> str | None:
    """How ports were matched that do not carry the model's names, in words; None where all do."""
    by_rule = {rule: [pair for pair in matching.pairs if pair.rule == rule] for rule in (SIMILAR, SHAPE, POSITION)}
    parts = [
        f"matched by {rule}: {', '.join(f'{pair.own} is {pair.name}' for pair in pairs)}"
        for rule, pairs in by_rule.items()
        if pairs
    ]
    return "; ".join(parts) or None


def doubt(matching: Matching, what: str) -> str | None:
    """The doubt about ports that nothing but their order tells apart, in words; None where there is none."""
    if not matching.doubtful:
        return None
    own = ", ".join(repr(pair.own) for pair in matching.doubtful)
    names = ", ".join(repr(pair.name) for pair in matching.doubtful)
    return f"the {what} {own} were taken for {names} by position alone: neither names nor shapes tell them apart"
