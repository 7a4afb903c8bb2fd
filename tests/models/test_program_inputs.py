from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

from parity.errors import ModelError
from parity.models.program_inputs import program_inputs
from parity.models.signature import parse_signature


class Words(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 4)

    def forward(self, tokens: torch.Tensor, *, weights: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.words(tokens) * weights[..., None]
        return made


class Halved(nn.Module):
    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return nn.functional.avg_pool2d(image, 8)


class Nested(nn.Module):
    def forward(self, pair: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        return pair[0] + pair[1]


class Joined(nn.Module):
    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return torch.cat([left, right]) + 1


def saved(module: nn.Module, args: tuple[Any, ...], folder: Path, **options: Any) -> Path:
    program = torch.export.export(module.eval(), args, **options)
    torch.export.save(program, folder / "model.pt2")
    return folder / "model.pt2"


def test_names_dtypes_bounds_and_the_rows_of_an_embedding_are_read(tmp_path: Path) -> None:
    batch, time = Dim("batch"), Dim("time", min=3, max=128)
    dims = {"tokens": {0: batch, 1: time}, "weights": {0: batch, 1: time}}
    inputs = (torch.zeros(2, 7, dtype=torch.int64),)
    path = saved(Words(), inputs, tmp_path, kwargs={"weights": torch.ones(2, 7)}, dynamic_shapes=dims)
    assert program_inputs(path) == ("tokens: int64[N, T in 3..128] in 0..49", "weights: float32[N, T in 3..128]")


def test_a_multiple_is_a_step(tmp_path: Path) -> None:
    path = saved(
        Halved(), (torch.zeros(2, 3, 32, 48),), tmp_path, dynamic_shapes={"image": {0: Dim("n"), 2: 8 * Dim("h")}}
    )
    (written,) = program_inputs(path)
    assert written == "image: float32[N, 3, T in 16.. step 8, 48]"
    assert parse_signature(written).symbols["T"].step == 8


def test_a_program_without_dynamic_sizes_has_numbers_alone(tmp_path: Path) -> None:
    assert program_inputs(saved(nn.Linear(3, 2), (torch.zeros(2, 3),), tmp_path)) == ("input: float32[2, 3]",)


@pytest.mark.parametrize(
    ("module", "args", "options", "message"),
    [
        (Nested(), ((torch.zeros(2), torch.zeros(2)),), {}, "inputs within containers"),
        (
            Joined(),
            (torch.zeros(3, 2), torch.zeros(4, 2)),
            {"dynamic_shapes": ({0: Dim("n", min=2)}, {0: Dim("n", min=2) + 1})},
            "depends on others",
        ),
    ],
)
def test_what_the_written_form_cannot_say_is_refused(
    module: nn.Module, args: tuple[Any, ...], options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match=message):
        program_inputs(saved(module, args, tmp_path, **options))
