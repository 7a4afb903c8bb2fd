"""The models that the suites judge: small enough for one core, with decisions worth counting.

Most weights stay as seeded; ``fit_heads.py`` fitted the heads and, where it trained more, the
normalisations, and ``heads/`` holds what it fitted.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from torchvision import models as zoo

import parity
from suites import crops, tagger

HEADS = Path(__file__).resolve().parent / "heads"
SEED = 0
IMAGE = f"image: float32[N, 3, {crops.SIZE}, {crops.SIZE}]"
SMALL_IMAGE = f"image: float32[N, 3, {crops.SMALL}, {crops.SMALL}]"
TOKENS = (
    f"tokens: int64[N, T in 1..{tagger.MAX_LENGTH}] in 0..{tagger.VOCABULARY - 1}",
    "lengths: int64[N] in 1..T",
)


def seeded_resnet18() -> nn.Module:
    """ResNet-18 with seeded weights, image to logits, float32 [N, 8]."""
    torch.manual_seed(SEED)
    model: nn.Module = zoo.resnet18(weights=None, num_classes=crops.N_CLASSES)
    return model


def seeded_mobilenet_v3_small() -> nn.Module:
    """MobileNetV3-Small with seeded weights, image to logits, float32 [N, 8]."""
    torch.manual_seed(SEED)
    model: nn.Module = zoo.mobilenet_v3_small(weights=None, num_classes=crops.N_CLASSES)
    return model


def seeded_swin_t() -> nn.Module:
    """Swin-T with seeded weights, image to logits, float32 [N, 2]."""
    torch.manual_seed(SEED)
    model: nn.Module = zoo.swin_t(weights=None, num_classes=len(crops.PHOTOGRAPHS))
    return model


def seeded_lraspp() -> nn.Module:
    """LR-ASPP on MobileNetV3-Large, image to ``{"out": float32 [N, COLOURS, H, W]}``."""
    torch.manual_seed(SEED)
    model: nn.Module = zoo.segmentation.lraspp_mobilenet_v3_large(
        weights=None, weights_backbone=None, num_classes=crops.N_COLOURS
    )
    return model


def with_fitted(model: nn.Module, name: str) -> nn.Module:
    """Load what was fitted for ``name`` into a seeded model and return it in eval mode.

    Raises:
        RuntimeError: the file names a tensor that the model lacks.
    """
    fitted = load_file(HEADS / f"{name}.safetensors")
    unexpected = model.load_state_dict(fitted, strict=False).unexpected_keys
    if unexpected:
        raise RuntimeError(
            f"heads/{name}.safetensors has {unexpected}, which {type(model).__name__} lacks: "
            "run `python -m suites.fit_heads` and commit what it writes"
        )
    return model.eval()


@parity.register(
    "resnet18",
    input=IMAGE,
    samples=crops.held_out,
    calibration=crops.calibration,
    labels=crops.held_out_labels,
)
def resnet18() -> nn.Module:
    """ResNet-18 that names the photograph and quadrant of a crop."""
    return with_fitted(seeded_resnet18(), "resnet18")


@parity.register(
    "mobilenet_v3_small",
    input=IMAGE,
    samples=crops.held_out,
    calibration=crops.calibration,
    labels=crops.held_out_labels,
)
def mobilenet_v3_small() -> nn.Module:
    """MobileNetV3-Small that names the photograph and quadrant of a crop."""
    return with_fitted(seeded_mobilenet_v3_small(), "mobilenet_v3_small")


@parity.register(
    "swin_t",
    input=SMALL_IMAGE,
    samples=crops.held_out_small,
    calibration=crops.calibration_small,
    labels=crops.held_out_small_photographs,
)
def swin_t() -> nn.Module:
    """Swin-T that names the photograph of a crop."""
    return with_fitted(seeded_swin_t(), "swin_t")


@parity.register(
    "lraspp_mobilenet_v3_large",
    input=IMAGE,
    samples=crops.held_out_few,
    calibration=crops.calibration,
)
def lraspp_mobilenet_v3_large() -> nn.Module:
    """LR-ASPP that names the colour of every pixel, with a dictionary for an output."""
    return with_fitted(seeded_lraspp(), "lraspp_mobilenet_v3_large")


@parity.register(
    "bilstm_tagger",
    input=TOKENS,
    samples=tagger.held_out,
    calibration=tagger.calibration,
    # torch.export makes the length of an LSTM's input a constant and refuses a dynamic T, so it is not shipped.
    targets=(
        "trace",
        "script",
        "onnx",
        "onnx-torchscript",
        "int8-dynamic",
        "int8-static",
        "onnx-int8-dynamic",
        "onnx-int8-static",
    ),
)
def bilstm_tagger() -> nn.Module:
    """Bidirectional LSTM that tags ragged token sequences."""
    return with_fitted(tagger.BiLstmTagger(), "bilstm_tagger")
