from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from parity.errors import ModelError, UsageError
from parity.models.build import build, code_digest, factory_file, weights_digest
from parity.models.signature import parse_signature
from parity.models.spec import ModelSpec

HERE = f"{Path(__file__).resolve()}"


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.scale = 0.5
        self.strides: list[int] = [8, 16]
        self.options: dict[str, object] = {"mode": "fast"}
        self.table = np.arange(3)
        self.kept = torch.ones(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.linear(x) * self.scale
        return made


def raises() -> nn.Module:
    raise FileNotFoundError("backbone.pt")


def no_module() -> int:
    return 3


def training_inside() -> nn.Module:
    return nn.Sequential(nn.Dropout(), nn.Linear(2, 2)).train()


def refuses() -> nn.Module:
    raise UsageError("mine")


def spec(factory: str, weights: str | None = None, root: Path | None = None) -> ModelSpec:
    return ModelSpec("m", f"{HERE}:{factory}", parse_signature("x: float32[N, 3]"), root or Path.cwd(), weights)


def test_a_built_module_is_in_eval_mode_and_says_that_it_was_not() -> None:
    built = build(spec("training_inside"))
    assert not any(each.training for each in built.module.modules())
    assert built.notes == ("3 modules came in training mode (Sequential, …); eval mode is enforced",)


def test_weights_are_loaded_from_a_path_relative_to_the_root(tmp_path: Path) -> None:
    source = Net()
    torch.save(source.state_dict(), tmp_path / "w.pt")
    built = build(spec("Net", "w.pt", tmp_path))
    assert weights_digest(built.module) == weights_digest(source)
    assert weights_digest(built.module) != weights_digest(Net())
    assert not built.module.training
    assert built.notes == (), "a module that weights were loaded into is new, which is nothing to tell"


def test_a_factory_that_raises_or_returns_something_else_is_a_model_error() -> None:
    with pytest.raises(ModelError, match=r"the factory raised FileNotFoundError: backbone\.pt"):
        build(spec("raises"))
    with pytest.raises(ModelError, match="returned no module") as caught:
        build(spec("no_module"))
    assert caught.value.got == "int"


def test_an_error_of_ours_passes_through_a_factory() -> None:
    with pytest.raises(UsageError, match="mine"):
        build(spec("refuses"))


def test_the_file_of_a_factory_is_the_one_that_it_is_written_in() -> None:
    assert factory_file(spec("Net")) == Path(__file__)


class Holder(nn.Module):
    def __init__(self, **tensors: torch.Tensor) -> None:
        super().__init__()
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)


def test_a_weights_digest_sees_values_names_dtypes_and_shapes() -> None:
    zeros = torch.zeros(2, 2)
    others = [
        Holder(x=zeros), Holder(y=zeros), Holder(x=zeros.double()), Holder(x=zeros.reshape(4)),
        Holder(x=zeros + 1), Holder(x=zeros, y=zeros), Holder(x=-zeros),
    ]  # fmt: skip
    assert len({weights_digest(each) for each in others}) == len(others)


@pytest.mark.parametrize(
    "dtype",
    [torch.bool, torch.int8, torch.float16, torch.bfloat16, torch.complex64, torch.float8_e4m3fn],
)
def test_weights_of_any_dtype_have_a_digest(dtype: torch.dtype) -> None:
    one, other = torch.zeros(3).to(dtype), torch.ones(3).to(dtype)
    assert weights_digest(Holder(x=one)) == weights_digest(Holder(x=one.clone()))
    assert weights_digest(Holder(x=one)) != weights_digest(Holder(x=other))


def test_empty_scalar_and_non_contiguous_weights_have_a_digest() -> None:
    matrix = torch.arange(6.0).reshape(2, 3)
    assert weights_digest(Holder(x=torch.zeros(0))) != weights_digest(Holder(x=torch.tensor(0.0)))
    assert weights_digest(Holder(x=matrix.T)) == weights_digest(Holder(x=matrix.T.contiguous()))


def test_a_code_digest_stays_for_equal_modules() -> None:
    assert code_digest(Net(), None) == code_digest(Net(), None)


def change_list(net: Net) -> None:
    net.strides = [8, 32]


def change_dict(net: Net) -> None:
    net.options = {"mode": "slow"}


def change_none(net: Net) -> None:
    net.scale = None  # type: ignore[assignment]  # what a factory might do


def change_array(net: Net) -> None:
    net.table = net.table + 1


def change_number(net: Net) -> None:
    net.scale = 0.25


def change_tensor(net: Net) -> None:
    net.kept = net.kept + 1


def change_submodule(net: Net) -> None:
    net.linear.eps = 3  # type: ignore[assignment]  # a plain attribute of a submodule


CHANGES = [change_list, change_dict, change_none, change_array, change_number, change_tensor, change_submodule]


@pytest.mark.parametrize("change", CHANGES)
def test_a_code_digest_sees_every_plain_attribute(change: Callable[[Net], None]) -> None:
    net = Net()
    change(net)
    assert code_digest(net, None) != code_digest(Net(), None)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.int64, torch.bfloat16])
def test_a_code_digest_sees_tensors_of_any_dtype(dtype: torch.dtype) -> None:
    one, other = Net(), Net()
    one.kept, other.kept = torch.full((2,), 2).to(dtype), torch.full((2,), 3).to(dtype)
    assert code_digest(one, None) != code_digest(other, None)


def test_a_code_digest_does_not_change_from_process_to_process() -> None:
    """An attribute whose text holds an address would export every model anew."""
    one, other = Net(), Net()
    one.options, other.options = {"hook": object()}, {"hook": object()}
    assert code_digest(one, None) == code_digest(other, None)


def test_a_code_digest_sees_the_file_of_a_base_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    base = tmp_path / "digest_base.py"
    base.write_text("from torch import nn\nclass Base(nn.Module):\n    def forward(self, x): return x\n")
    (tmp_path / "digest_net.py").write_text("from digest_base import Base\nclass Child(Base): ...\n")
    module = importlib.import_module("digest_net").Child()
    before = code_digest(module, None)
    base.write_text(base.read_text().replace("return x", "return -x"))
    assert code_digest(module, None) != before
