from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from parity.errors import ModelError, Unsupported
from parity.models.binding import bound, forward_of
from parity.models.programs import is_program, is_torchscript, load_program, load_torchscript, require_modules

X = torch.randn(2, 3)


class Shifted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor, *, shift: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.linear(x) + shift
        return made


def test_an_exported_program_is_a_module_in_eval_mode_with_its_keywords(tmp_path: Path) -> None:
    module, shift = Shifted().eval(), torch.randn(2)
    torch.export.save(torch.export.export(module, (X,), kwargs={"shift": shift}), tmp_path / "m.pt2")
    loaded = load_program(tmp_path / "m.pt2").eval()
    assert is_program(loaded)
    assert not loaded.training
    assert str(forward_of(loaded)) == "forward(x, *, shift)"
    caller, _ = bound(loaded, ("x", "shift"), "m")
    torch.testing.assert_close(caller(X, shift), module(X, shift=shift))


def test_a_torchscript_archive_is_a_module(tmp_path: Path) -> None:
    module = nn.Linear(3, 2).eval()
    torch.jit.save(torch.jit.freeze(torch.jit.trace(module, (X,))), tmp_path / "m.pt")
    loaded = load_torchscript(tmp_path / "m.pt").eval()
    assert is_torchscript(loaded)
    torch.testing.assert_close(loaded(X), module(X))


def test_what_works_on_source_has_nothing_to_work_on_in_torchscript() -> None:
    scripted = torch.jit.script(nn.Linear(3, 2))
    with pytest.raises(Unsupported, match=r"TorchScript, which torch\.export does not take"):
        require_modules(scripted, "torch.export")
    require_modules(nn.Linear(3, 2), "torch.export")


@pytest.mark.parametrize("load", [load_program, load_torchscript])
def test_a_file_that_torch_cannot_read_is_a_message(load: object, tmp_path: Path) -> None:
    (tmp_path / "m.pt").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(ModelError, match="cannot be read") as raised:
        load(tmp_path / "m.pt")  # type: ignore[operator]  # either of the two
    assert f"torch {torch.__version__}" in str(raised.value)
