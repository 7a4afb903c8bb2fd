"""A bare state dict is recognised by keys and shapes alone, and what does not fit in every one of them is not."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from parity.models.architectures import Match, NoMatch, fitted, recognise
from parity.models.architectures.making import without_data

Shapes = dict[str, tuple[int, ...]]


@functools.cache
def _shapes(name: str, arguments: tuple[tuple[str, object], ...]) -> Shapes:
    return {key: tuple(value.shape) for key, value in without_data(name, **dict(arguments)).state_dict().items()}


def shapes(name: str, **arguments: object) -> Shapes:
    return dict(_shapes(name, tuple(arguments.items())))


def reference(found: Match | NoMatch) -> str:
    assert isinstance(found, Match), str(found)
    return found.reference


NAMES = (
    "alexnet", "convnext_tiny", "deeplabv3_mobilenet_v3_large", "densenet121", "efficientnet_b0", "efficientnet_v2_s",
    "fcn_resnet50", "lraspp_mobilenet_v3_large", "maskrcnn_resnet50_fpn", "maxvit_t", "mnasnet0_5", "mobilenet_v2",
    "mobilenet_v3_small", "mvit_v2_s", "r3d_18", "raft_small", "regnet_x_400mf", "regnet_y_400mf", "resnet18",
    "resnet50", "resnext50_32x4d", "s3d", "shufflenet_v2_x1_0", "squeezenet1_0", "squeezenet1_1", "ssd300_vgg16",
    "swin_t", "swin_v2_t", "vgg11", "vgg11_bn", "vit_b_16", "vit_b_32", "wide_resnet50_2",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_an_architecture_is_recognised_by_its_state_dict(name: str) -> None:
    assert reference(recognise(shapes(name))) == f"torchvision:{name}"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("resnet18", {"num_classes": 10}),
        ("mobilenet_v3_small", {"num_classes": 1}),
        ("squeezenet1_1", {"num_classes": 2}),
        ("densenet121", {"num_classes": 14}),
        ("vit_b_16", {"num_classes": 5}),
        ("vit_b_16", {"image_size": 384}),
        ("vit_b_32", {"image_size": 64, "num_classes": 5}),
        ("swin_t", {"num_classes": 37}),
        ("r3d_18", {"num_classes": 101}),
        ("fcn_resnet50", {"aux_loss": True}),
        ("fcn_resnet50", {"aux_loss": True, "num_classes": 2}),
        ("deeplabv3_resnet50", {"num_classes": 4}),
        ("lraspp_mobilenet_v3_large", {"num_classes": 2}),
        ("maskrcnn_resnet50_fpn", {"num_classes": 2}),
        ("retinanet_resnet50_fpn", {"num_classes": 5}),
        ("keypointrcnn_resnet50_fpn", {"num_classes": 3, "num_keypoints": 4}),
    ],
)
def test_arguments_that_change_shapes_are_found(name: str, arguments: dict[str, object]) -> None:
    written = ", ".join(f"{key}={value}" for key, value in arguments.items())
    found = reference(recognise(shapes(name, **arguments)))
    assert sorted(found.removesuffix(")").partition("(")[2].split(", ")) == sorted(written.split(", "))
    assert found.startswith(f"torchvision:{name}(")


@pytest.mark.parametrize(
    "prefix", ["module.", "_orig_mod.", "model.", "module._orig_mod.", "model.net.", "my.own.encoder."]
)
def test_a_prefix_of_every_key_is_looked_through(prefix: str) -> None:
    found = recognise({prefix + key: shape for key, shape in shapes("resnet18", num_classes=7).items()})
    assert reference(found) == "torchvision:resnet18(num_classes=7)"
    assert isinstance(found, Match)
    assert "".join(found.removed) in (prefix, "_orig_mod.module.")


def test_counters_of_batch_norms_may_be_missing_and_are_named() -> None:
    full = shapes("resnet18")
    found = recognise({key: shape for key, shape in full.items() if not key.endswith("num_batches_tracked")})
    assert reference(found) == "torchvision:resnet18"
    assert isinstance(found, Match)
    assert set(found.missing) == {key for key in full if key.endswith("num_batches_tracked")}


def test_names_of_an_older_torchvision_are_recognised_and_said() -> None:
    old = {
        key.replace("norm1.", "norm.1.").replace("conv2.", "conv.2.") if "denselayer" in key else key: shape
        for key, shape in shapes("densenet121").items()
    }
    found = recognise(old)
    assert reference(found) == "torchvision:densenet121"
    assert isinstance(found, Match)
    assert set(found.old) == {key for key in old.keys() - shapes("densenet121").keys() if "num_batches" not in key}


def test_the_average_of_a_network_is_recognised_as_that_network() -> None:
    averaged = {f"module.{key}": shape for key, shape in shapes("resnet18").items()}
    assert reference(recognise(averaged | {"n_averaged": ()})) == "torchvision:resnet18"
    assert isinstance(recognise(shapes("resnet18") | {"n_averaged": ()}), NoMatch)


def test_the_first_names_of_a_vision_transformer_are_recognised() -> None:
    old = {
        key.replace(".mlp.0.", ".mlp.linear_1.").replace(".mlp.3.", ".mlp.linear_2."): shape
        for key, shape in shapes("vit_b_32").items()
    }
    assert reference(recognise(old)) == "torchvision:vit_b_32"


def other_shape(state: Shapes) -> None:
    state["layer3.1.conv1.weight"] = (256, 256, 3, 5)


def transposed(state: Shapes) -> None:
    state["layer2.0.conv1.weight"] = (64, 128, 3, 3)


def one_more(state: Shapes) -> None:
    state["layer4.2.conv1.weight"] = (512, 512, 3, 3)


def one_less(state: Shapes) -> None:
    del state["fc.bias"]


def one_renamed(state: Shapes) -> None:
    state["head.bias"] = state.pop("fc.bias")


def two_class_counts(state: Shapes) -> None:
    state["fc.bias"] = (999,)


def flat(state: Shapes) -> None:
    state["bn1.weight"] = ()


def a_counter_of_nothing(state: Shapes) -> None:
    state["conv1.num_batches_tracked"] = ()


def a_counter_that_is_a_vector(state: Shapes) -> None:
    state["bn1.num_batches_tracked"] = (64,)


def no_class(state: Shapes) -> None:
    state["fc.weight"], state["fc.bias"] = (0, 512), (0,)


NEAR_MISSES = [
    other_shape, transposed, one_more, one_less, one_renamed, two_class_counts, flat, a_counter_of_nothing,
    a_counter_that_is_a_vector, no_class,
]  # fmt: skip


@pytest.mark.parametrize("change", NEAR_MISSES)
def test_one_key_that_does_not_fit_is_enough_to_refuse(change: Callable[[Shapes], None]) -> None:
    state = shapes("resnet18")
    change(state)
    found = recognise(state)
    assert isinstance(found, NoMatch)
    assert found.nearest is not None
    assert found.nearest.startswith("torchvision:resnet18")
    assert found.fitting in (found.total, found.total - 1, found.total - 2)
    assert str(found).startswith("the nearest is torchvision:resnet18")


def test_boxes_and_classes_have_to_agree_on_how_many_there_are() -> None:
    state = shapes("fasterrcnn_resnet50_fpn", num_classes=3)
    head = "roi_heads.box_predictor.bbox_pred"
    state |= {f"{head}.weight": (16, 1024), f"{head}.bias": (16,)}
    assert isinstance(recognise(state), NoMatch)


def test_positions_that_no_square_image_gives_are_refused() -> None:
    state = shapes("vit_b_32")
    state["encoder.pos_embedding"] = (1, 1 + 7 * 8, 768)
    found = recognise(state)
    assert isinstance(found, NoMatch)
    assert found.nearest == "torchvision:vit_b_32"


@pytest.mark.parametrize(
    ("name", "arguments", "alternatives"),
    [
        (
            "googlenet",
            {"aux_logits": False, "num_classes": 3},
            ("googlenet(aux_logits=False, num_classes=3, transform_input=True)",
             "googlenet(aux_logits=False, num_classes=3, transform_input=False)"),
        ),
        ("inception_v3", {}, ("inception_v3(transform_input=True)", "inception_v3(transform_input=False)")),
        (
            "fasterrcnn_mobilenet_v3_large_fpn",
            {},
            ("fasterrcnn_mobilenet_v3_large_320_fpn", "fasterrcnn_mobilenet_v3_large_fpn"),
        ),
    ],
)  # fmt: skip
def test_weights_that_fit_two_functions_are_refused_with_both(
    name: str, arguments: dict[str, object], alternatives: tuple[str, ...]
) -> None:
    found = recognise(shapes(name, **arguments))
    assert isinstance(found, NoMatch)
    assert found.alternatives == tuple(f"torchvision:{each}" for each in alternatives)
    assert ("transform_input=True where training began" in str(found)) is ("transform_input" in alternatives[0])
    assert found.hint == " or ".join(f'--arch "torchvision:{each}"' for each in alternatives)


@pytest.mark.parametrize("state", [{}, {"weight": (3, 4)}, {"fc.weight": (3, 4), "fc.bias": (3,), "conv.weight": (1,)}])
def test_what_resembles_nothing_has_no_nearest(state: Shapes) -> None:
    found = recognise(state)
    assert isinstance(found, NoMatch)
    assert found.nearest is None
    assert found.hint is None


@pytest.mark.parametrize(
    ("name", "arguments", "written", "expected"),
    [
        ("resnet18", {"num_classes": 10}, "resnet18", "resnet18(num_classes=10)"),
        ("resnet18", {}, "resnet18", "resnet18"),
        ("resnet18", {"num_classes": 10}, "resnet18(num_classes=10)", "resnet18(num_classes=10)"),
        ("resnet18", {"num_classes": 10}, "resnet18(num_classes=11)", "resnet18(num_classes=11)"),
        ("googlenet", {"aux_logits": False}, "googlenet", "googlenet(aux_logits=False)"),
        ("googlenet", {}, "googlenet(transform_input=True)", "googlenet(transform_input=True)"),
        ("fcn_resnet50", {"aux_loss": True}, "fcn_resnet50", "fcn_resnet50(aux_loss=True)"),
        ("fcn_resnet50", {"aux_loss": True}, "fcn_resnet50(aux_loss=False)", "fcn_resnet50(aux_loss=False)"),
        ("resnet18", {}, "quantized_resnet18", "quantized_resnet18"),
    ],
)
def test_a_named_architecture_gets_the_arguments_that_fit(
    name: str, arguments: dict[str, object], written: str, expected: str
) -> None:
    state = {f"module.{key}": shape for key, shape in shapes(name, **arguments).items()}
    assert fitted(f"torchvision:{written}", state) == f"torchvision:{expected}"


def test_one_key_too_many_does_not_hide_the_number_of_classes() -> None:
    state = shapes("resnet18", num_classes=10) | {"criterion.weight": (10,)}
    assert fitted("torchvision:resnet18", state) == "torchvision:resnet18(num_classes=10)"
