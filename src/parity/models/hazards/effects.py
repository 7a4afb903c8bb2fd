"""What each kind of hazard does to each way of capturing a model, in words. Loads no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Effect:
    """How one capture is affected.

    Attributes:
        answers: What is then wrong with the artifact's answers; None where they are right.
        refuses: Why the export then raises; None where it does not.
    """

    answers: str | None = None
    refuses: str | None = None


_STATE = "what forward changes outlives the call in eager, not so in the artifact"
_DRAWS = "it draws other numbers than eager, as eager itself does from call to call"
_TRAINS = "eager differs from call to call, and the artifact from eager"
_FIXED = "torch.export fixes the dimension to its example's size, or refuses the signature"
_NO_PARAMETRIZATION = "TorchScript does not know parametrizations: remove them before it compiles"
_NARROW = "a runtime may round elsewhere than eager does, or lack the narrow operator"

EFFECTS: Mapping[str, Mapping[str, Effect]] = {
    "branch": {
        "trace": Effect(answers="trace keeps the branch that its example took"),
        "export": Effect(refuses="torch.export cannot branch on a value that it does not have"),
        "int8-static": Effect(refuses="FX cannot branch on a value that it does not have"),
    },
    "value": {
        "trace": Effect(answers="trace keeps the number that its example gave"),
        "export": Effect(refuses="torch.export does not have the number, and refuses most of what Python does with it"),
        "int8-static": Effect(refuses="FX does not have the number"),
    },
    "numpy": {
        "trace": Effect(answers="trace keeps the array that its example gave"),
        "script": Effect(refuses="TorchScript cannot compile NumPy"),
        "export": Effect(refuses="torch.export has no values to hand to NumPy"),
        "int8-static": Effect(refuses="FX has no values to hand to NumPy"),
    },
    "size": {
        "trace": Effect(
            answers="trace keeps the size of its example",
            refuses="a traced size is a tensor, which not every function of Python takes",
        ),
        "export": Effect(answers=_FIXED, refuses=_FIXED),
        "int8-static": Effect(answers="FX keeps the size of its example", refuses="FX has no size to read"),
    },
    "size-branch": {
        "trace": Effect(answers="trace keeps the branch that its example's size took"),
        "export": Effect(
            answers="torch.export keeps the branch that its example's size took",
            refuses="torch.export guards on the size, and cannot promise every size of the signature",
        ),
        "int8-static": Effect(refuses="FX has no size to branch on"),
    },
    "loop": {
        "trace": Effect(answers="trace unrolls as many rounds as its example had"),
        "export": Effect(answers=_FIXED, refuses=_FIXED),
        "int8-static": Effect(refuses="FX does not know how many rounds there are"),
    },
    "random": {name: Effect(answers=_DRAWS) for name in ("trace", "script", "export", "int8-static")},
    "training": {name: Effect(answers=_TRAINS) for name in ("trace", "script", "export", "int8-static")},
    "input-write": {},
    "scratch": {"script": Effect(refuses="TorchScript sets typed attributes alone, declared beforehand")},
    "hook": {"script": Effect(refuses="TorchScript compiles hooks like methods, and refuses what it cannot compile")},
    "write": {name: Effect(answers=_STATE) for name in ("trace", "script", "export", "int8-static")},
    "attribute": {
        "trace": Effect(answers="trace keeps what its example found there"),
        "script": Effect(answers=_STATE, refuses="TorchScript sets typed attributes alone, declared beforehand"),
        "export": Effect(answers="torch.export keeps what its example found there"),
        "int8-static": Effect(answers="FX keeps what its example found there"),
    },
    "parametrization": {
        "script": Effect(answers=_NO_PARAMETRIZATION, refuses=_NO_PARAMETRIZATION),
    },
    "precision": {
        **{name: Effect(answers=_NARROW, refuses=_NARROW) for name in ("trace", "script", "export")},
        "compile": Effect(answers="Inductor rounds once after the operators that it fuses, eager after each of them"),
    },
    "dynamic-output": {
        "export": Effect(refuses="torch.export has to guess a size that depends on values"),
        "int8-static": Effect(refuses="FX has no size to read"),
    },
    "check": {
        "export": Effect(refuses="torch.export cannot branch on a value that it does not have"),
        "int8-static": Effect(refuses="FX cannot branch on a value that it does not have"),
    },
}
"""By kind and exporter. What other exporters do follows from one of these: they capture the model with it."""

KINDS = tuple(EFFECTS)
"""From what changes answers most surely to what is good to know."""


def affected(kind: str) -> tuple[str, ...]:
    """The exporters that a kind of hazard affects."""
    return tuple(EFFECTS[kind])
