"""The weights of a checkpoint: those of the place that is looked at first, and of every other that holds some."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from parity.errors import ModelError
from parity.models.files.weights import STATE_KEYS, Candidate, copy_versions, find_weights, notes_on
from parity.models.wording import listed

ARRAYS = ".multiarray._reconstruct"
"""How the name of the function ends by which a pickle makes NumPy arrays; they are not read."""

_BESIDE = 12
"""Names that the note lists of what lies beside the weights."""


@dataclass(frozen=True)
class State:
    """The weights of a checkpoint, named as the file names them, and what a reader should know of them.

    The packed weights of quantized layers and the extra state of modules stand among the tensors, as in a state_dict.
    `others` are the weights of other places in the file, for a module that these do not fit; their values were not
    looked at.
    """

    tensors: Mapping[str, Tensor]
    notes: tuple[str, ...] = ()
    others: tuple[State, ...] = ()

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor, without what is none."""
        return {name: tuple(each.shape) for name, each in self.tensors.items() if isinstance(each, Tensor)}


def state_of(held: Any, path: Path, *, arrays: bool = False) -> State:
    """The weights in what a file holds.

    Args:
        held: What was read.
        path: The file, for messages.
        arrays: Whether the file holds NumPy arrays, which were not read.

    Raises:
        ModelError: there are none.
    """
    found = find_weights(held)
    if not found:
        raise ModelError(
            "no weights were found in the model file",
            where=str(path),
            allowed=f"a state_dict, or one under {listed(map(repr, STATE_KEYS))}",
            got=_told(held) + (", and NumPy arrays, which are not read as weights" if arrays else ""),
            hint="save tensors: torch.save({name: torch.from_numpy(each) for name, each in weights.items()}, ...)"
            if arrays
            else "save the weights: torch.save(model.state_dict(), ...)",
        )
    first, *others = found
    state = _at(held, first, found)
    together = [_together(held, found)] if others and all(each.path for each in found) else []
    notes = (*state.notes, *notes_on(state.tensors))
    return State(state.tensors, notes, (*(_at(held, each, found) for each in others), *together))


def _at(held: Any, chosen: Candidate, found: Sequence[Candidate]) -> State:
    tensors: dict[str, Tensor] = OrderedDict(chosen.tensors)
    copy_versions(chosen.tensors, tensors)
    notes = []
    if isinstance(held, nn.Module):
        notes.append(f"weights taken from a pickled {type(held).__name__}")
    elif chosen.path:
        notes.append(_taken(held, [chosen]))
    if chosen.left:
        notes.append(f"entries that are no tensors were left out: {listed(chosen.left)}")
    others = [repr(each.name) for each in found if each is not chosen]
    if others:
        why = "" if chosen is found[0] else f", since those under {found[0].name!r} do not fit the module"
        notes.append(f"the file holds weights under {listed(others)} as well; they were not taken{why}")
    return State(tensors, tuple(notes))


def _together(held: Any, found: Sequence[Candidate]) -> State:
    """Weights that were saved part by part (`{"encoder": …, "decoder": …}`), named as the whole has them."""
    tensors = {f"{each.name}.{key}": value for each in found for key, value in each.tensors.items()}
    return State(tensors, (_taken(held, found),))


def _taken(held: Any, chosen: Sequence[Candidate]) -> str:
    heads = {each.path[0] for each in chosen}
    top = [str(key) for key in held if str(key) not in heads] if isinstance(held, Mapping) else []
    names = " and ".join(repr(each.name) for each in chosen)
    return (
        f"weights taken from {names}{' together' if len(chosen) > 1 else ''}; "
        f"beside {'them' if len(chosen) > 1 else 'it'}: {listed(top, _BESIDE) or 'nothing'}"
    )


def _told(held: Any) -> str:
    if isinstance(held, Tensor):
        return "one tensor, as samples are saved"
    if isinstance(held, Mapping):
        if "param_groups" in held:
            return "the state of an optimizer"
        return f"a dictionary with {listed(map(repr, held)) or 'nothing'}"
    return f"a {type(held).__name__}"
