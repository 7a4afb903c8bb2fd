from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from parity.errors import ModelError
from parity.models.factories import factory_source, import_code, make_module
from tests.forked import run_code

HERE = str(Path(__file__).resolve())


def needs_one(size: int) -> nn.Module:
    return nn.Linear(size, 1)


def broken() -> nn.Module:
    raise RuntimeError("no weights on this machine")


def plain() -> nn.Module:
    return nn.Linear(2, 1)


def test_every_kind_of_reference_makes_a_module(tmp_path: Path) -> None:
    torch.jit.save(torch.jit.script(plain()), tmp_path / "m.ts")
    torch.export.save(torch.export.export(plain(), (torch.zeros(1, 2),)), tmp_path / "m.pt2")
    torch.save(plain(), tmp_path / "m.pt")
    for reference in (f"{HERE}:plain", "torchvision:squeezenet1_1", "torchscript:m.ts", "program:m.pt2"):
        assert isinstance(make_module(reference, tmp_path).module, nn.Module)
    assert isinstance(make_module("pickle:m.pt", tmp_path, trust_pickle=True).module, nn.Linear)
    with pytest.raises(ModelError, match="holds no module that may be read"):
        make_module("pickle:m.pt", tmp_path)


def test_what_a_factory_stands_for_is_part_of_the_code(tmp_path: Path) -> None:
    assert factory_source(f"{HERE}:plain", tmp_path) == Path(HERE)
    assert factory_source("program:m.pt2", tmp_path) == tmp_path / "m.pt2"
    assert factory_source("torchvision:resnet18", tmp_path) is None


def test_a_factory_that_needs_arguments_is_told_from_one_that_fails() -> None:
    with pytest.raises(ModelError, match="TypeError") as raised:
        make_module(f"{HERE}:needs_one", Path.cwd())
    assert "give parity a function that needs none" in str(raised.value)
    with pytest.raises(ModelError, match="no weights on this machine") as raised:
        make_module(f"{HERE}:broken", Path.cwd())
    assert "needs none" not in str(raised.value)


def test_importing_an_architecture_brings_the_classes_that_it_returns(tmp_path: Path) -> None:
    """An exported program names them, and cannot be read without."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    transformers.BertModel(transformers.BertConfig(vocab_size=50, **sizes)).save_pretrained(tmp_path / "bert")
    code = (
        "import sys\nfrom pathlib import Path\nfrom parity.models.factories import import_code\n"
        "print('transformers.modeling_outputs' in sys.modules)\n"
        f"import_code('transformers:{tmp_path / 'bert'}', Path.cwd())\n"
        "print('transformers.modeling_outputs' in sys.modules)"
    )
    done = run_code(code)
    assert done.stdout.splitlines() == ["False", "True"], done.stderr


def test_importing_a_factory_calls_nothing(tmp_path: Path) -> None:
    import_code(f"{HERE}:broken", tmp_path)
