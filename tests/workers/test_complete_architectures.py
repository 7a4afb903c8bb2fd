"""Bare weights become a model with its architecture and inputs, or a message that says what to type."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from parity.errors import ModelError
from parity.models.architectures import build_architecture
from parity.models.draft import Draft
from parity.models.signature import Signature
from parity.models.spec import ModelSpec
from parity.workers.complete import complete


def draft_of(folder: Path, reference: str, prefix: str = "") -> Draft:
    state = build_architecture(f"torchvision:{reference}", folder).state_dict()
    torch.save({prefix + key: value for key, value in state.items()}, folder / "weights.pth")
    return Draft(ModelSpec("weights", factory="", signature=Signature(()), root=folder, weights="weights.pth"))


def test_weights_of_a_known_architecture_get_it_and_its_inputs(tmp_path: Path) -> None:
    spec = complete(draft_of(tmp_path, "squeezenet1_1(num_classes=3)", prefix="module."))
    assert spec.factory == "torchvision:squeezenet1_1(num_classes=3)"
    assert [str(each) for each in spec.signature.inputs] == ["image: float32[N, 3, 224, 224]"]
    assert "recognised as torchvision:squeezenet1_1(num_classes=3) by the 52 names and shapes" in spec.notes[0]


def test_weights_that_fit_two_functions_get_both_lines_to_type(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="fit more than one architecture") as caught:
        complete(draft_of(tmp_path, "googlenet(aux_logits=False, num_classes=5)"))
    written = '--arch "torchvision:googlenet(aux_logits=False, num_classes=5, transform_input={})"'
    assert caught.value.hint == " or ".join(written.format(value) for value in ("True", "False"))
    assert "transform_input=True where training began from torchvision's own weights" in str(caught.value)


def test_weights_of_a_detector_get_the_module_to_put_around_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="a detector takes a list of images") as caught:
        complete(draft_of(tmp_path, "ssdlite320_mobilenet_v3_large(num_classes=2)"))
    assert "get_model('ssdlite320_mobilenet_v3_large'" in str(caught.value)
