"""The networks that faults are planted in: how each is built, and how large its images are."""

from __future__ import annotations

from dataclasses import dataclass

_OWN = "benchmarks.faults.networks"
_ZOO = "torchvision.models"


@dataclass(frozen=True)
class Architecture:
    """One network.

    Attributes:
        name: What it is called in results.
        base: The torchvision architecture that it is.
        factory: Reference to what builds it, without arguments.
        size: Height and width of its images in pixels.
        exported: Whether the slow ONNX exporter, which starts from torch.export, is tried as well.
        rounds: Whether it rounds its own activations to steps, which float64 does elsewhere than float32: its
            floor is a whole step, and its faults are counted apart.
    """

    name: str
    base: str
    factory: str
    size: int = 96
    exported: bool = False
    rounds: bool = False


def _plain(name: str, size: int = 96, *, exported: bool = False) -> Architecture:
    return Architecture(name, name, f"{_ZOO}:{name}", size, exported)


def _own(name: str, base: str = "", size: int = 96, *, exported: bool = False, rounds: bool = False) -> Architecture:
    return Architecture(name, base or name, f"{_OWN}:{name}", size, exported, rounds)


ARCHITECTURES = (
    _plain("resnet18", exported=True),
    _plain("resnext50_32x4d"),
    _plain("squeezenet1_1", exported=True),
    _plain("densenet121"),
    _plain("googlenet"),
    _plain("inception_v3", 128),
    _plain("mobilenet_v2", exported=True),
    _plain("mobilenet_v3_small", exported=True),
    _plain("mobilenet_v3_large"),
    _plain("efficientnet_b0"),
    _plain("shufflenet_v2_x0_5", exported=True),
    _plain("regnet_y_400mf"),
    _own("convnext", exported=True),
    _own("swin"),
    _own("vit", exported=True),
    _own("maxvit"),
    _own("lraspp_mobilenet_v3_large", exported=True),
    _own("deeplabv3_mobilenet_v3_large"),
    _own("fcn_resnet50", size=64),
    _own("ssdlite320_mobilenet_v3_large", exported=True),
    _own("retinanet_resnet50_fpn_v2", size=64),
    _own("fasterrcnn_mobilenet_v3_large_fpn"),
    _own("bicubic_resnet18", "resnet18", 120, exported=True),
    _own("bilinear_mobilenet_v3_small", "mobilenet_v3_small", 120),
    _own("nearest_shufflenet_v2", "shufflenet_v2_x0_5", 120),
    _own("stepped_resnet18", "resnet18"),
    _own("stepped_mobilenet_v2", "mobilenet_v2"),
    _own("stepped_squeezenet1_1", "squeezenet1_1"),
    _own("rounding_mobilenet_v2", "mobilenet_v2", rounds=True),
)

QUICK = ("mobilenet_v3_small", "shufflenet_v2_x0_5", "bilinear_mobilenet_v3_small", "stepped_squeezenet1_1")
"""What `--quick` runs: the four that take least."""
