"""What the observers write down: one hazard for each place and kind, counted."""

from __future__ import annotations

from dataclasses import replace
from types import FrameType

from parity.models.hazards.effects import KINDS, affected
from parity.models.hazards.places import Place, Places, inside_torch, is_check
from parity.records import Hazard


class HazardLog:
    """Collects hazards; the same kind at the same line counts once, with the number of times."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self._found: dict[tuple[str, str], Hazard] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def see(self, kind: str, what: str, frame: FrameType) -> None:
        """Note what happens in a frame, or in what it was called from."""
        self.add(kind, what, self.places.at(frame))

    def see_value(self, kind: str, what: str, frame: FrameType) -> None:
        """Note that a value decides something; where it only checks something, it is a check."""
        place = self.places.at(frame)
        self.add("check" if is_check(place) else kind, what, place)

    def see_size(self, kind: str, what: str, frame: FrameType) -> None:
        """Note what a size is turned into, where the user's own code does it, and for more than a check."""
        if not inside_torch(frame) and not is_check(place := self.places.at(frame)):
            self.add(kind, what, place)

    def add(self, kind: str, what: str, place: Place) -> None:
        """Note a hazard whose place is known."""
        key = kind, place.where
        self._counts[key] = self._counts.get(key, 0) + 1
        if key not in self._found:
            self._found[key] = Hazard(
                kind=kind,
                where=place.where,
                what=what,
                affects=affected(kind),
                line=place.text or None,
                module=place.module or None,
            )

    def hazards(self) -> tuple[Hazard, ...]:
        """Everything noted, the surest kinds first, with counts."""
        # A layer that is told to train draws numbers and keeps statistics: the cause is enough.
        training = {where for kind, where in self._found if kind == "training"}
        # What is made a number is compared next, as often as not.
        sizes = {where for kind, where in self._found if kind == "size"}
        followed = {("random", where) for where in training} | {("write", where) for where in training}
        followed |= {("size-branch", where) for where in sizes}
        kept = self._found.keys() - followed
        seen = list(self._found)
        ordered = sorted(kept, key=lambda key: (KINDS.index(key[0]), seen.index(key)))
        return tuple(replace(self._found[key], count=self._counts[key]) for key in ordered)
