"""timm's architectures, where timm is installed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from parity.errors import ModelError, UnknownName
from parity.models.architectures import build_architecture, fitted, known_inputs
from parity.models.build import weights_digest

HERE = Path()


@pytest.fixture(autouse=True)
def installed() -> None:
    pytest.importorskip("timm", reason="timm is not installed: pip install timm")


def test_an_architecture_is_built_alike_each_time_and_takes_its_known_inputs() -> None:
    reference = "timm:test_resnet(num_classes=5)"
    one, other = (build_architecture(reference, HERE) for _ in range(2))
    assert weights_digest(one) == weights_digest(other)
    assert not one.training
    assert known_inputs(reference, HERE) == ("image: float32[N, 3, 160, 160]",)
    assert one(torch.zeros(2, 3, 160, 160)).shape == (2, 5)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("resnet18", "image: float32[N, 3, 224, 224]"),
        ("resnet18(in_chans=1)", "image: float32[N, 1, 224, 224]"),
        ("vit_small_patch16_384", "image: float32[N, 3, 384, 384]"),
        ("vit_small_patch16_384(img_size=64)", "image: float32[N, 3, 64, 64]"),
        ("vit_base_patch16_224.augreg_in21k", "image: float32[N, 3, 224, 224]"),
    ],
)
def test_the_size_is_that_of_the_named_weights_or_the_one_written(name: str, expected: str) -> None:
    assert known_inputs(f"timm:{name}", HERE) == (expected,)


def test_an_unknown_name_gets_the_nearest_ones_and_never_the_whole_list() -> None:
    with pytest.raises(UnknownName) as caught:
        build_architecture("timm:resnet18x", HERE)
    assert "did you mean 'resnet18" in str(caught.value)
    with pytest.raises(UnknownName) as caught:
        known_inputs("timm:zzzzzz", HERE)
    assert len(str(caught.value)) < 300


def test_a_wrong_argument_is_said() -> None:
    with pytest.raises(ModelError, match="unexpected keyword argument 'num_clases'"):
        build_architecture("timm:test_resnet(num_clases=5)", HERE)


@pytest.mark.parametrize("prefix", ["", "module."])
@pytest.mark.parametrize(
    ("name", "key"), [("test_resnet", "fc"), ("test_vit", "head"), ("test_efficientnet", "classifier")]
)
def test_the_number_of_classes_is_read_from_the_classifier(name: str, key: str, prefix: str) -> None:
    reference = f"timm:{name}"
    state = build_architecture(f"{reference}(num_classes=7)", HERE).state_dict()
    assert f"{key}.weight" in state
    shapes = {prefix + each: tuple(value.shape) for each, value in state.items()}
    assert fitted(reference, shapes) == f"{reference}(num_classes=7)"
    assert fitted(f"{reference}(num_classes=3)", shapes) == f"{reference}(num_classes=3)"


def test_what_fits_already_stays_as_it_is() -> None:
    state = build_architecture("timm:test_resnet", HERE).state_dict()
    assert fitted("timm:test_resnet", {key: tuple(value.shape) for key, value in state.items()}) == "timm:test_resnet"
