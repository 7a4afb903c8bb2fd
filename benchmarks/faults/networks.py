"""Networks that torchvision does not build with a call without arguments, or not in a size that suits.

Detectors go up to their raw head outputs: which boxes are left after that depends on the data, and matching
them is not what is measured here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torchvision import models as zoo
from torchvision.models.convnext import CNBlockConfig
from torchvision.models.maxvit import MaxVit

SIZE = 96
CLASSES = 21


def vit() -> nn.Module:
    """A vision transformer with half of ViT-B's width and depth and patches of 16, for images of 96 pixels."""
    model: nn.Module = zoo.VisionTransformer(SIZE, 16, num_layers=6, num_heads=6, hidden_dim=384, mlp_dim=1536)
    return model


def swin() -> nn.Module:
    """Swin with half of Swin-T's width and two blocks in each stage."""
    model: nn.Module = zoo.SwinTransformer([4, 4], 48, [2, 2, 2, 2], [2, 4, 8, 16], [7, 7], stochastic_depth_prob=0.0)
    return model


def convnext() -> nn.Module:
    """ConvNeXt with half of ConvNeXt-T's width and two blocks in each stage."""
    widths = (48, 96, 192, 384, None)
    stages = [CNBlockConfig(own, following, 2) for own, following in pairwise(widths)]
    model: nn.Module = zoo.ConvNeXt(stages)
    return model


def maxvit() -> nn.Module:
    """MaxViT with a fourth of MaxViT-T's channels and windows of 3, for images of 96 pixels."""
    model: nn.Module = MaxVit(
        input_size=(SIZE, SIZE), stem_channels=32, partition_size=3, block_channels=[32, 64, 96, 128],
        block_layers=[1, 1, 2, 1], head_dim=32, stochastic_depth_prob=0.0,
    )  # fmt: skip
    return model


def lraspp_mobilenet_v3_large() -> nn.Module:
    """LR-ASPP, image to ``{"out"}``."""
    return _segmentation("lraspp_mobilenet_v3_large")


def deeplabv3_mobilenet_v3_large() -> nn.Module:
    """DeepLabV3 on MobileNetV3, image to ``{"out"}``."""
    return _segmentation("deeplabv3_mobilenet_v3_large")


def fcn_resnet50() -> nn.Module:
    """FCN on ResNet-50, image to ``{"out"}``."""
    return _segmentation("fcn_resnet50")


def _segmentation(name: str) -> nn.Module:
    build = getattr(zoo.segmentation, name)
    model: nn.Module = build(weights=None, weights_backbone=None, num_classes=CLASSES)
    return model


class Heads(nn.Module):
    """A detector up to the outputs of its heads: float32 images [N, 3, H, W] to a dictionary of float32."""

    def __init__(self, backbone: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = head

    def forward(self, image: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the class scores and box regressions of every anchor."""
        made = self.head(list(self.backbone(image).values()))
        if isinstance(made, dict):
            return made
        scores, boxes = made
        joined = {"objectness": scores, "boxes": boxes}
        return {name: torch.cat([level.flatten(1) for level in levels], 1) for name, levels in joined.items()}


def ssdlite320_mobilenet_v3_large() -> nn.Module:
    """SSDlite up to its class logits and box regressions."""
    detector = zoo.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=CLASSES)
    return Heads(detector.backbone, detector.head)


def retinanet_resnet50_fpn_v2() -> nn.Module:
    """RetinaNet with group normalisation up to its class logits and box regressions."""
    detector = zoo.detection.retinanet_resnet50_fpn_v2(weights=None, weights_backbone=None, num_classes=CLASSES)
    return Heads(detector.backbone, detector.head)


def fasterrcnn_mobilenet_v3_large_fpn() -> nn.Module:
    """Faster R-CNN up to the objectness and box regressions of its region proposals."""
    detector = zoo.detection.fasterrcnn_mobilenet_v3_large_fpn(weights=None, weights_backbone=None)
    return Heads(detector.backbone, detector.rpn.head)


class Resized(nn.Module):
    """A network with the resizing of its images in front, as it is shipped where clients send any size."""

    def __init__(self, network: nn.Module, mode: str) -> None:
        super().__init__()
        self.network = network
        self.mode = mode

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Resize to 96 pixels and classify."""
        aligned = None if self.mode == "nearest" else False
        resized = functional.interpolate(image, size=(SIZE, SIZE), mode=self.mode, align_corners=aligned)
        made: torch.Tensor = self.network(resized)
        return made


def bicubic_resnet18() -> nn.Module:
    """ResNet-18 behind a bicubic resize."""
    return Resized(zoo.resnet18(), "bicubic")


def bilinear_mobilenet_v3_small() -> nn.Module:
    """MobileNetV3-Small behind a bilinear resize."""
    return Resized(zoo.mobilenet_v3_small(), "bilinear")


def nearest_shufflenet_v2() -> nn.Module:
    """ShuffleNetV2 behind a nearest-neighbour resize."""
    return Resized(zoo.shufflenet_v2_x0_5(), "nearest")


class Stepped(nn.Module):
    """Values rounded to the steps of an 8-bit integer and back, as quantization-aware training does it."""

    def __init__(self, low: int, high: int, scale: float, zero: int = 0) -> None:
        super().__init__()
        self.low, self.high, self.scale, self.zero = low, high, scale, zero

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Round to `scale`, within the integers `low..high`."""
        return torch.fake_quantize_per_tensor_affine(x, self.scale, self.zero, self.low, self.high)


class SteppedConv(nn.Module):
    """A convolution whose weights are rounded to 8 bits in front of it."""

    def __init__(self, conv: nn.Conv2d) -> None:
        super().__init__()
        self.conv = conv
        # Four deviations of what He's initialisation draws, and a power of two: see `_stepped`.
        largest = 4 * math.sqrt(2 / conv.weight[0].numel())
        self.step = Stepped(-128, 127, 2.0 ** math.ceil(math.log2(largest / 127)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Convolve with the rounded weights."""
        conv = self.conv
        weight = self.step(conv.weight)
        return functional.conv2d(x, weight, conv.bias, conv.stride, conv.padding, conv.dilation, conv.groups)


def _stepped(network: nn.Module) -> nn.Module:
    """8-bit weights and 8-bit images (normalised, between -2.2 and 2.7) with scales that are powers of two.

    Such a scale divides without rounding, so that float32 and float64 come to the same steps.
    """
    _exchange(network, nn.Conv2d, SteppedConv)
    return nn.Sequential(Stepped(0, 255, 2.0**-5, 128), network)


def _exchange(module: nn.Module, kind: type[nn.Module], wrap: Callable[[Any], nn.Module]) -> None:
    for name, child in list(module.named_children()):
        if isinstance(child, kind):
            setattr(module, name, wrap(child))
        else:
            _exchange(child, kind, wrap)


def stepped_resnet18() -> nn.Module:
    """ResNet-18 with 8-bit weights and 8-bit images, as floats: quantize and dequantize are in its graph."""
    return _stepped(zoo.resnet18())


def stepped_squeezenet1_1() -> nn.Module:
    """SqueezeNet with 8-bit weights and 8-bit images, as floats."""
    return _stepped(zoo.squeezenet1_1())


def stepped_mobilenet_v2() -> nn.Module:
    """MobileNetV2 with 8-bit weights and 8-bit images, as floats."""
    return _stepped(zoo.mobilenet_v2())


def rounding_mobilenet_v2() -> nn.Module:
    """MobileNetV2 whose activations are rounded to 8 bits as well: values near a step fall on either side."""
    network = zoo.mobilenet_v2()
    _exchange(network, nn.ReLU6, lambda relu6: nn.Sequential(relu6, Stepped(0, 255, 6 / 255)))
    return _stepped(network)
