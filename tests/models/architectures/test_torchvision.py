"""torchvision's architectures are built alike in every process, offline, and with inputs of a size that they take."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torchvision

from parity.errors import ModelError, UnknownName
from parity.models.architectures import build_architecture, known_inputs, recognition
from parity.models.architectures.making import reason_left_out, without_data
from parity.models.architectures.references import parse_reference
from parity.models.build import weights_digest
from parity.models.signature import parse_signature

HERE = Path()


def test_an_architecture_is_built_alike_each_time_in_eval_mode_and_the_random_state_comes_back() -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    one = build_architecture("torchvision:squeezenet1_1(num_classes=4)", HERE)
    assert torch.equal(torch.rand(4), expected)
    other = build_architecture("torchvision:squeezenet1_1(num_classes=4)", HERE)
    assert weights_digest(one) == weights_digest(other)
    assert not any(each.training for each in one.modules())
    assert one(torch.zeros(2, 3, 64, 64)).shape == (2, 4)


@pytest.mark.parametrize("name", ["lraspp_mobilenet_v3_large", "ssdlite320_mobilenet_v3_large"])
def test_no_backbone_is_downloaded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: object, **options: object) -> None:
        raise AssertionError("a download")

    monkeypatch.setattr("torchvision._internally_replaced_utils.load_state_dict_from_url", never)
    monkeypatch.setattr("torchvision.models._api.load_state_dict_from_url", never)
    assert isinstance(build_architecture(f"torchvision:{name}", HERE), torch.nn.Module)


def test_an_unknown_name_gets_the_nearest_ones() -> None:
    with pytest.raises(UnknownName) as caught:
        build_architecture("torchvision:resnet81", HERE)
    assert "did you mean 'resnet18'" in str(caught.value)


def test_a_name_that_is_near_nothing_gets_the_command_that_lists_them() -> None:
    with pytest.raises(UnknownName) as caught:
        known_inputs("torchvision:zzz", HERE)
    assert "list_models()" in str(caught.value)


def test_an_argument_that_the_builder_does_not_take_is_said() -> None:
    for use in (build_architecture, known_inputs):
        with pytest.raises(ModelError, match="unexpected keyword argument 'num_clases'"):
            use("torchvision:resnet18(num_clases=3)", HERE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("resnet18", ("image: float32[N, 3, 224, 224]",)),
        ("inception_v3(transform_input=True)", ("image: float32[N, 3, 299, 299]",)),
        ("efficientnet_b1", ("image: float32[N, 3, 240, 240]",)),
        ("vit_h_14", ("image: float32[N, 3, 224, 224]",)),
        ("vit_b_16(image_size=384)", ("image: float32[N, 3, 384, 384]",)),
        ("quantized_resnet18", ("image: float32[N, 3, 224, 224]",)),
        ("fcn_resnet50", ("image: float32[N, 3, 320, 320]",)),
        ("r3d_18", ("video: float32[N, 3, 16, 112, 112]",)),
        ("mvit_v2_s", ("video: float32[N, 3, 16, 224, 224]",)),
        ("raft_small", ("image1: float32[N, 3, 128, 128]", "image2: float32[N, 3, 128, 128]")),
    ],
)
def test_inputs_are_those_that_the_weights_were_evaluated_on(text: str, expected: tuple[str, ...]) -> None:
    assert known_inputs(f"torchvision:{text}", HERE) == expected


@pytest.mark.parametrize(
    "name",
    ["squeezenet1_0", "swin_v2_t", "efficientnet_b1", "inception_v3(aux_logits=False)", "fcn_resnet50", "r3d_18", "s3d",
     "mvit_v2_s", "swin3d_t", "maxvit_t", "vit_b_16", "vit_b_32(image_size=64)"],
)  # fmt: skip
def test_an_architecture_takes_its_known_inputs(name: str) -> None:
    (written,) = parse_signature(known_inputs(f"torchvision:{name}", HERE) or ()).inputs
    reference = parse_reference("torchvision", name)
    # No numbers are needed to see whether shapes fit.
    module = without_data(reference.name, **reference.options).to("meta").eval()
    module(torch.zeros(2, *(dim.size or 0 for dim in written.dims[1:]), device="meta"))


def one_of_each_family(*, detection: bool) -> list[str]:
    """The last name of each module of torchvision that has builders."""
    detectors = set(torchvision.models.list_models(module=torchvision.models.detection))
    names = [each for each in torchvision.models.list_models() if (each in detectors) is detection]
    return list({torchvision.models.get_model_builder(name).__module__: name for name in names}.values())


def test_every_family_has_inputs_or_takes_a_list_of_images() -> None:
    for name in one_of_each_family(detection=False):
        assert known_inputs(f"torchvision:{name}", HERE), name
    for name in one_of_each_family(detection=True):
        with pytest.raises(ModelError, match="takes a list of images"):
            known_inputs(f"torchvision:{name}", HERE)


def test_the_module_shown_for_a_detector_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "fasterrcnn_mobilenet_v3_large_320_fpn"
    with pytest.raises(ModelError) as caught:
        known_inputs(f"torchvision:{name}(num_classes=3)", HERE)
    _, *lines = (caught.value.hint or "").splitlines()
    monkeypatch.chdir(tmp_path)
    torch.save(build_architecture(f"torchvision:{name}(num_classes=3)", HERE).state_dict(), "weights.pt")
    held: dict[str, type[torch.nn.Module]] = {}
    exec("\n".join(line[11:] for line in lines), {"torch": torch, "torchvision": torchvision}, held)  # noqa: S102  # what a user would paste
    with torch.no_grad():
        boxes, scores, labels = held["Detect"]().eval()(torch.rand(1, 3, 320, 320))
    assert boxes.shape == (len(scores), 4)
    assert labels.shape == scores.shape


def _facts(module: torch.nn.Module) -> list[str]:
    """What a module computes with besides its weights, as far as it is plain, auxiliary heads left out."""
    own = {*vars(torch.nn.Module()), "aux_logits", "aux1", "aux2", "AuxLogits", "aux_classifier", "seq_length"}
    held = [f"{name}: {each!r}" for name, each in module.named_children() if "aux" not in name.lower()]
    return held + [
        f"{name}.{key}={value!r}"
        for name, each in module.named_modules()
        for key, value in sorted(vars(each).items())
        if key not in own and "aux" not in name.lower()
        if isinstance(value, (int, float, str, tuple, list, type(None)))
    ]


def test_weights_of_torchvision_change_nothing_else_than_the_flags_that_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a builder does otherwise once it is asked for its own weights leaves no trace in a state dict."""
    monkeypatch.setattr("torchvision.models._api.WeightsEnum.get_state_dict", lambda *_, **__: {})
    monkeypatch.setattr(torch.nn.Module, "load_state_dict", lambda *_, **__: None)
    differ: set[str] = set()
    for name in one_of_each_family(detection=False):
        if reason_left_out(name) is not None:
            continue
        for weights in torchvision.models.get_model_weights(name):
            size = {"image_size": min(weights.meta["min_size"])} if name.startswith("vit_") else {}
            if _facts(without_data(name, weights=weights)) != _facts(without_data(name, **size)):
                differ.add(name)
    assert differ == set(recognition.UNSEEN)
