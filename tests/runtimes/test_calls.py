"""TorchScript and exported programs get the inputs that they name, in their own order, by keyword where they ask so."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest
import torch
from torch import nn

from parity.artifacts import Artifact, Manifest
from parity.errors import ParityError
from parity.models.ports import Port
from parity.runtimes import RUNTIMES, Session, SessionOptions

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

X, Y = np.asarray([[5.0, 7.0]], np.float32), np.asarray([[1.0, 2.0]], np.float32)


class Subtract(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a - b


class Shifted(nn.Module):
    def forward(
        self, x: torch.Tensor, scale: torch.Tensor | None = None, *, shift: torch.Tensor | None = None
    ) -> torch.Tensor:
        y = x if scale is None else x * scale
        return y if shift is None else y - shift


class Rated(nn.Module):
    def forward(self, x: torch.Tensor, rate: int) -> torch.Tensor:
        return x * rate


def script(folder: Path, module: nn.Module, *options: Any) -> Artifact:
    made = torch.jit.trace(module, options) if options else torch.jit.script(module)
    torch.jit.save(made, folder / "m.pt")
    return Artifact(folder, Manifest("m.pt", "torchscript", "float", "m.pt"))


def program(folder: Path, module: nn.Module, *args: Any, **kwargs: Any) -> Artifact:
    torch.export.save(torch.export.export(module, args, kwargs=kwargs), folder / "m.pt2")
    return Artifact(folder, Manifest("m.pt2", "exported-program", "float", "m.pt2"))


def opened(artifact: Artifact, *names: str, ports: tuple[Port, ...] = ()) -> Session:
    runtime = "torchscript" if artifact.manifest.format == "torchscript" else "torch"
    return RUNTIMES.get(runtime).open(artifact, SessionOptions(1, names, inputs=ports))


ONE = torch.ones(1, 2)


def made(folder: Path, kind: str) -> Artifact:
    return {
        "traced": lambda: script(folder, Subtract(), ONE, ONE * 2),
        "scripted": lambda: script(folder, Subtract()),
        "program": lambda: program(folder, Subtract(), ONE, ONE * 2),
    }[kind]()


@pytest.mark.parametrize("kind", ["traced", "scripted", "program"])
def test_inputs_are_fed_by_name_whatever_their_order(tmp_path: Path, kind: str) -> None:
    session = opened(made(tmp_path, kind), "b", "a")
    assert session.run({"a": X, "b": Y})["output"].tolist() == [[4, 5]]
    assert "inputs" not in session.facts


@pytest.mark.parametrize("kind", ["traced", "scripted", "program"])
def test_inputs_of_other_names_go_by_position_and_the_doubt_is_said(tmp_path: Path, kind: str) -> None:
    session = opened(made(tmp_path, kind), "left", "right")
    assert session.run({"left": X, "right": Y})["output"].tolist() == [[4, 5]]
    assert session.facts["inputs"] == "matched by position: a is left, b is right"
    assert "'a', 'b'" in session.doubts["inputs"]  # type: ignore[attr-defined]  # not every session has doubts


class Keyword(nn.Module):
    def forward(self, x: torch.Tensor, *, shift: torch.Tensor) -> torch.Tensor:
        return x - shift


class Scaled(nn.Module):
    def forward(
        self,
        x: torch.Tensor,
        scale: Optional[torch.Tensor] = None,  # noqa: UP045  # TorchScript reads it
        shift: Optional[torch.Tensor] = None,  # noqa: UP045  # the same
    ) -> torch.Tensor:
        y = x if scale is None else x * scale
        return y if shift is None else y - shift


def test_a_keyword_only_argument_is_passed_by_its_name(tmp_path: Path) -> None:
    session = opened(script(tmp_path, Keyword()), "shift", "x")
    assert session.run({"x": X, "shift": Y})["output"].tolist() == [[4, 5]]


def test_an_optional_argument_is_left_out_and_the_one_after_it_is_not_taken_for_it(tmp_path: Path) -> None:
    session = opened(script(tmp_path, Scaled()), "shift", "x")
    assert session.run({"x": X, "shift": Y})["output"].tolist() == [[4, 5]]
    assert session.facts["inputs"] == "left at its default: scale"


def test_a_programs_keywords_are_passed_where_its_call_had_them(tmp_path: Path) -> None:
    session = opened(program(tmp_path, Shifted(), ONE, shift=ONE * 2), "shift", "x")
    assert session.run({"x": X, "shift": Y})["output"].tolist() == [[4, 5]]


def test_an_argument_that_a_program_has_baked_in_is_none_of_its_inputs(tmp_path: Path) -> None:
    session = opened(program(tmp_path, Shifted(), ONE, None, shift=ONE * 2), "x", "shift")
    assert session.run({"x": X, "shift": Y})["output"].tolist() == [[4, 5]]


def test_inputs_of_a_program_are_told_apart_by_their_dtypes(tmp_path: Path) -> None:
    class Gather(nn.Module):
        def forward(self, table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
            return table.gather(1, index)

    artifact = program(tmp_path, Gather(), ONE, torch.zeros(1, 2, dtype=torch.int64))
    ports = (Port("where", "int64", (None, 2)), Port("values", "float32", (None, 2)))
    session = opened(artifact, "where", "values", ports=ports)
    found = session.run({"values": X, "where": np.asarray([[1, 1]])})
    assert found["output"].tolist() == [[7, 7]]
    assert session.facts["inputs"] == "matched by shape and dtype: table is values, index is where"
    assert session.doubts == {}  # type: ignore[attr-defined]  # the same


def test_a_number_is_passed_where_the_schema_asks_for_one(tmp_path: Path) -> None:
    session = opened(script(tmp_path, Rated()), "x", "rate")
    assert session.run({"x": X, "rate": np.asarray(3)})["output"].tolist() == [[15, 21]]


def test_an_argument_without_a_default_that_the_model_has_not_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ParityError, match="it asks for rate") as caught:
        opened(script(tmp_path, Rated()), "x")
    assert "next: export it with" in caught.value.line


def test_an_input_that_the_artifact_has_not_is_said(tmp_path: Path) -> None:
    session = opened(script(tmp_path, Subtract()), "a", "b", "mask")
    assert session.facts["inputs"] == "the artifact has no mask"
    assert session.doubts == {"inputs": "the artifact has no input for 'mask'"}  # type: ignore[attr-defined]  # the same
