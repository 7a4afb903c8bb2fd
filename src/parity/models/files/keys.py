"""The names of weights: prefixes that wrappers leave on them, removed where that makes them fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

WRAPPERS = frozenset({"module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"})
"""What DataParallel, `torch.compile`, FSDP and activation checkpointing put into a key, anywhere in it."""

MOSTLY = 0.5
"""Share of the known keys that has to fit without the prefix: `fc.` makes the `weight` and `bias` of a whole network
fit a single layer, by coincidence."""


@dataclass(frozen=True)
class Renamed:
    """The keys of a file (old) as the module calls them (new), and what was removed from them."""

    names: Mapping[str, str]
    removed: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """How many keys lost what, in words."""
        changed = sum(old != new for old, new in self.names.items())
        what = " and ".join(map(repr, self.removed))
        plural = "prefixes" if len(self.removed) > 1 else "prefix"
        verb = "were" if len(self.removed) > 1 else "was"
        return (f"the {plural} {what} {verb} removed from {changed} keys",) if self.removed else ()


def fit_names(keys: Iterable[str], known: Collection[str], leave: Collection[str] = ()) -> Renamed:
    """Take from the keys what wrappers left on them, as far as more of them are `known` without it.

    Keys to `leave` have no say in that: what they begin with is no prefix of the weights.
    """
    keys = list(keys)
    best = Renamed({key: key for key in keys})
    for unwrapped in (False, True):
        short = {key: _unwrap(key) if unwrapped else key for key in keys}
        if len(set(short.values())) < len(short):
            continue
        prefix = strip_prefixes((name for key, name in short.items() if key not in leave), known)
        names = {key: name.removeprefix(prefix or "") for key, name in short.items()}
        wrappers = {part for key in keys for part in key.split(".") if unwrapped and part in WRAPPERS}
        if prefix:
            wrappers.add(prefix.rstrip("."))
        if _fits(names.values(), known) > _fits(best.names.values(), known):
            best = Renamed(names, tuple(f"{part}." for part in sorted(wrappers)))
    return best


def strip_prefixes(keys: Iterable[str], known: Collection[str]) -> str | None:
    """The prefix, of one part or several (`module.model.`), without which most of the `known` keys are found.

    Keys that do not begin with it keep their names. None where no prefix makes more keys fit, or where two do so
    equally well and neither is on all keys: nothing says which of them was meant.
    """
    keys = list(keys)
    equal = _best_prefixes(keys, frozenset(known))
    on_all = [prefix for prefix in equal if all(key.startswith(prefix) for key in keys)]
    chosen = on_all or equal
    return chosen[0] if len(chosen) == 1 else None


def prefixes_alike(keys: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """The prefixes of several networks in one state_dict (`model.` and `model_ema.`) that fit equally well, or none."""
    keys = list(keys)
    equal = _best_prefixes(keys, frozenset(known))
    return tuple(equal) if len(equal) > 1 and strip_prefixes(keys, known) is None else ()


def _best_prefixes(keys: list[str], known: frozenset[str]) -> list[str]:
    """The prefixes without which most of the `known` keys are found, in the order of the file."""
    found: Counter[str] = Counter()
    for key in keys:
        found.update(key[: at + 1] for at, letter in enumerate(key) if letter == "." and key[at + 1 :] in known)
    bare = {key for key in keys if key in known}
    scores = {
        prefix: count + sum(not key.startswith(prefix) for key in bare)
        for prefix, count in found.items()
        if not any(key.startswith(prefix) and key[len(prefix) :] in bare for key in keys)
    }
    best = max(scores.values(), default=0)
    if best <= len(bare) or best < MOSTLY * len(known):
        return []
    return [prefix for prefix, score in scores.items() if score == best]


def _unwrap(key: str) -> str:
    return ".".join(part for part in key.split(".") if part not in WRAPPERS)


def _fits(keys: Iterable[str], known: Collection[str]) -> int:
    return sum(key in known for key in keys)
