"""Weights that an older torchvision named are loaded, and said to be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
import torchvision
from safetensors.torch import save_file
from torch import nn

from parity.errors import ModelError
from parity.models.files.checkpoint import load_weights
from parity.models.files.history import fit_names_of_any_age, modern_name


def small_densenet(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return torchvision.models.DenseNet(growth_rate=4, block_config=(1, 2), num_init_features=8, num_classes=3)  # type: ignore[no-any-return]  # torchvision is not typed


def small_vit(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    sizes = {"image_size": 8, "patch_size": 4, "num_layers": 1, "num_heads": 2, "hidden_dim": 8, "mlp_dim": 16}
    module = torchvision.models.VisionTransformer(**sizes, num_classes=3)
    nn.init.normal_(module.heads.head.weight)
    return module  # type: ignore[no-any-return]  # the same


def densenet_of_then(key: str) -> str:
    return re.sub(r"(denselayer\d+\.(?:norm|relu|conv))([12])\.", r"\1.\2.", key)


def vit_of_then(key: str) -> str:
    return key.replace(".mlp.0.", ".mlp.linear_1.").replace(".mlp.3.", ".mlp.linear_2.")


@pytest.mark.parametrize("prefix", ["", "module.", "model."])
@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
@pytest.mark.parametrize(("make", "then"), [(small_densenet, densenet_of_then), (small_vit, vit_of_then)])
def test_weights_of_an_older_layout_are_loaded_whole(
    tmp_path: Path, make: object, then: object, suffix: str, prefix: str
) -> None:
    assert callable(make)
    assert callable(then)
    trained, module = make(1), make(2)
    old = {prefix + then(key): value for key, value in trained.state_dict().items()}
    assert old.keys() != trained.state_dict().keys()
    path = tmp_path / f"weights{suffix}"
    save_file(old, path) if suffix == ".safetensors" else torch.save(old, path)
    notes = load_weights(module, path)
    assert any("those of an older torchvision" in note for note in notes), notes
    state = module.state_dict()
    assert all(torch.equal(state[key], value) for key, value in trained.state_dict().items())


def test_a_key_that_is_missing_is_missed_under_its_name_of_today(tmp_path: Path) -> None:
    old = {densenet_of_then(key): value for key, value in small_densenet(1).state_dict().items()}
    del old["features.denseblock2.denselayer1.conv.2.weight"]
    torch.save(old, tmp_path / "weights.pth")
    with pytest.raises(ModelError, match="1 missing") as caught:
        load_weights(small_densenet(2), tmp_path / "weights.pth")
    assert "features.denseblock2.denselayer1.conv2.weight" in str(caught.value)


def test_a_module_that_is_really_named_like_that_keeps_its_names() -> None:
    keys = ["a.mlp.linear_1.weight", "a.mlp.linear_1.bias"]
    renamed, old = fit_names_of_any_age(keys, keys)
    assert list(renamed.names.values()) == keys
    assert old == ()


def test_two_keys_never_become_one() -> None:
    keys = ["x.mlp.0.weight", "x.mlp.linear_1.weight"]
    assert fit_names_of_any_age(keys, ["x.mlp.0.weight"])[1] == ()


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("backbone.fpn.inner_blocks.2.weight", "backbone.fpn.inner_blocks.2.0.weight"),
        ("backbone.fpn.inner_blocks.2.0.weight", "backbone.fpn.inner_blocks.2.0.weight"),
        ("rpn.head.conv.bias", "rpn.head.conv.0.0.bias"),
        ("rpn.head.conv.0.0.bias", "rpn.head.conv.0.0.bias"),
        ("conv1.weight", "conv1.weight"),
    ],
)
def test_names_of_today_stay(key: str, name: str) -> None:
    assert modern_name(key) == name
