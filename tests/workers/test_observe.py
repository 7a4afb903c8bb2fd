"""Every kind of hazard is seen where it is planted, and nothing is seen in its healthy twin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from parity.arrays import Array
from parity.models.hazards.effects import EFFECTS, affected
from parity.models.signature import parse_signature
from parity.records import Hazard
from parity.workers.observe import Observed, observe
from tests.workers import hazardous
from tests.workers.models import spec

SOURCE = Path(hazardous.__file__).read_text(encoding="utf-8").splitlines()


def see(model: type[nn.Module], batch: int = 8, signature: str = "x: float32[N, 6]", *sizes: int) -> Observed:
    made = replace(spec(model), signature=parse_signature(signature))
    x: Array = np.random.default_rng(0).standard_normal((batch, *sizes, 6)).astype(np.float32)
    return observe(model().eval(), made, {"x": x})


def planted(model: type[nn.Module]) -> str:
    """The line of a model that is marked as the one with the hazard."""
    start = next(number for number, text in enumerate(SOURCE) if text.startswith(f"class {model.__name__}("))
    line = next(number for number in range(start, len(SOURCE)) if SOURCE[number].endswith("# here"))
    return f"tests/workers/hazardous.py:{line + 1}"


def kinds(hazards: Sequence[Hazard]) -> list[str]:
    return [hazard.kind for hazard in hazards]


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (hazardous.Branch, "branch"),
        (hazardous.Equal, "branch"),
        (hazardous.Contains, "branch"),
        (hazardous.Item, "value"),
        (hazardous.ToList, "value"),
        (hazardous.Index, "value"),
        (hazardous.NumPy, "numpy"),
        (hazardous.Asserts, "check"),
        (hazardous.IntSize, "size"),
        (hazardous.Length, "size"),
        (hazardous.Root, "size"),
        (hazardous.Ceiling, "size"),
        (hazardous.Repeats, "size"),
        (hazardous.LooksUp, "size"),
        (hazardous.Lists, "size"),
        (hazardous.SizeBranch, "size-branch"),
        (hazardous.Smallest, "size-branch"),
        (hazardous.Rows, "loop"),
        (hazardous.Range, "loop"),
        (hazardous.Draws, "random"),
        (hazardous.DrawsNumPy, "random"),
        (hazardous.DrawsPython, "random"),
        (hazardous.Dropout, "training"),
        (hazardous.Mean, "write"),
        (hazardous.WritesView, "input-write"),
        (hazardous.Counts, "attribute"),
        (hazardous.Keeps, "scratch"),
        (hazardous.Caches, "attribute"),
        (hazardous.Appends, "attribute"),
        (hazardous.Replaces, "attribute"),
        (hazardous.Narrow, "precision"),
        (hazardous.Autocast, "precision"),
        (hazardous.Selects, "dynamic-output"),
    ],
)
def test_a_hazard_is_seen_at_its_line_and_nothing_else_is(model: type[nn.Module], kind: str) -> None:
    observed = see(model)
    assert observed.notes == ()
    assert [(each.kind, each.where) for each in observed.hazards] == [(kind, planted(model))]
    assert observed.hazards[0].affects == affected(kind)
    assert (observed.hazards[0].line or "").endswith("# here")


@pytest.mark.parametrize(
    "model",
    [
        hazardous.Base,
        hazardous.Where,
        hazardous.ConstantItem,
        hazardous.Idioms,
        hazardous.FixedRange,
        hazardous.Attends,
        hazardous.WritesOwn,
        hazardous.SetsTheSame,
        hazardous.Widens,
        hazardous.Gathers,
    ],
)
def test_a_healthy_model_shows_none(model: type[nn.Module]) -> None:
    assert see(model) == Observed()


def test_a_module_that_stays_in_training_mode_is_named_with_the_method_that_keeps_it_there() -> None:
    first, *rest = see(hazardous.Stubborn).hazards
    assert (first.kind, first.where) == ("training", planted(hazardous.Stubborn))
    assert "stays in training mode" in first.what
    assert [(each.kind, each.module, each.count) for each in rest] == [("training", "norm", 2)]


def test_hooks_are_named_by_where_they_are_written_and_on_what_they_run() -> None:
    found = see(hazardous.Hooked).hazards
    assert [(each.kind, each.module, each.line) for each in found] == [
        ("hook", "layer", "def double(module: nn.Module, inputs: Any, output: torch.Tensor) -> torch.Tensor:"),
        ("hook", "norm", "def first_of(module: nn.Module, inputs: Any) -> Any:"),
    ]


def test_a_hazard_names_the_submodule_that_it_happened_in() -> None:
    (found,) = see(hazardous.Nested).hazards
    assert (found.module, found.where) == ("blocks.1.1", planted(hazardous.Branch))


def test_a_dimension_other_than_the_batch_is_known_by_its_symbol() -> None:
    (found,) = see(hazardous.Steps, 2, "x: float32[N, T in 1..9, 6]", 5).hazards
    assert (found.kind, found.where) == ("loop", planted(hazardous.Steps))
    assert see(hazardous.Steps, 2, "x: float32[N, 5, 6]", 5).hazards == ()


def test_where_a_neighbouring_size_does_not_run_the_double_is_tried() -> None:
    (found,) = see(hazardous.Pairs, 2, "x: float32[N, T, 6]", 4).hazards
    assert (found.kind, found.where) == ("size", planted(hazardous.Pairs))


def test_what_torchscript_has_compiled_is_looked_at_from_outside() -> None:
    observed = see(hazardous.Scripted)
    assert ([(each.kind, each.module) for each in observed.hazards], observed.notes) == ([("branch", "plain")], ())


def test_a_parametrization_is_named_by_its_module() -> None:
    (found,) = see(hazardous.Parametrized).hazards
    assert (found.kind, found.module, found.affects) == ("parametrization", "layer", ("script",))
    assert found.where.startswith("torch/nn/utils/parametrizations.py:")


def test_a_line_that_runs_often_is_one_hazard_with_a_count() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = hazardous.Branch(), hazardous.Branch()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y: torch.Tensor = self.two(self.one(x))
            return y

    observed = observe(Twice().eval(), spec(hazardous.Base), {"x": np.ones((4, 6), np.float32)})
    assert [(each.module, each.count) for each in observed.hazards] == [("one", 2)]


def test_a_model_that_takes_one_size_is_observed_as_it_is_and_a_note_says_so() -> None:
    observed = see(hazardous.Picky, 4)
    assert kinds(observed.hazards) == ["branch"]
    assert observed.notes[0].startswith("hazards that depend on sizes could not be observed: RuntimeError: shape")


def test_a_model_that_does_not_run_under_observation_is_a_note_and_no_error() -> None:
    observed = see(hazardous.Picky, 3)
    assert observed.hazards == ()
    assert observed.notes[0].startswith("hazards could not be observed: RuntimeError: shape")


def test_a_module_that_cannot_be_copied_is_a_note() -> None:
    observed = observe(None, spec(hazardous.Base), {"x": np.ones((4, 6), np.float32)})
    assert observed.notes == ("hazards could not be observed: the module cannot be copied",)


def test_observing_changes_neither_the_module_nor_its_input_nor_any_generator() -> None:
    module = hazardous.Mean().eval()
    x = np.ones((4, 6), np.float32)
    before = torch.get_rng_state(), np.random.get_state()[1].tobytes()  # type: ignore[index]  # noqa: NPY002
    for each in (module, hazardous.WritesView().eval(), hazardous.Draws().eval(), hazardous.DrawsNumPy().eval()):
        observe(each, spec(hazardous.Base), {"x": x})
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.random.get_state()[1].tobytes() == before[1]  # type: ignore[index]  # noqa: NPY002
    assert not module.memory.any()
    assert np.array_equal(x, np.ones((4, 6), np.float32))
    assert "range" not in vars(hazardous)
    assert nn.Module.__setattr__.__module__ == "torch.nn.modules.module"


def test_a_kind_affects_the_exporters_that_its_effects_are_told_of() -> None:
    assert affected("branch") == ("trace", "export", "int8-static")
    assert all(effect.answers or effect.refuses for kind in EFFECTS for effect in EFFECTS[kind].values())
