"""The three networks of MTCNN, the face detector of facenet-pytorch: proposals, refinement, landmarks.

Each is a model of its own here, as it is when it is served: what happens between them (scales of the
image, thresholds, suppression) is Python with shapes that depend on the data, and no exporter takes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import facenet_pytorch
import numpy as np
import torch
from facenet_pytorch.models.mtcnn import ONet, PNet, RNet
from numpy.typing import NDArray
from torch import nn

import parity
from suites.zoo import photographs

WEIGHTS = Path(facenet_pytorch.__file__).parent / "data"

PROPOSAL_SIZES = ((12, 12), (13, 20), (24, 17), (31, 48), (48, 31), (40, 60), (64, 64), (57, 85))
N_PROPOSALS = 6
"""Held-out images of each size."""
N_HELD_OUT = 450
N_CALIBRATION = 48
HELD_OUT_SEED, CALIBRATION_SEED = 11, 12

Images = NDArray[np.float32]


def normalised(image: Images) -> Images:
    """What the detector does to pixels before each network: 0..255 to -1..1."""
    made: Images = (image - np.float32(127.5)) * np.float32(0.0078125)
    return made


def proposals(seed: int, per_size: int) -> Iterable[dict[str, Images]]:
    """Images of every size that a scale pyramid may come to, ``image`` float32 [3, H, W]."""
    images = photographs.photographs()
    drawn = iter(photographs.boxes(per_size * len(PROPOSAL_SIZES), seed))
    for height, width in PROPOSAL_SIZES:
        for _ in range(per_size):
            crop = photographs.cut(images, next(drawn))
            yield {"image": normalised(photographs.resized(crop, height, width))}


def squares(n: int, seed: int, side: int) -> dict[str, Images]:
    """Crops as the stage before hands them over, ``image`` float32 [n, 3, side, side]."""
    images = photographs.photographs()
    crops = (photographs.cut(images, box) for box in photographs.boxes(n, seed))
    return {"image": np.stack([normalised(photographs.resized(crop, side, side)) for crop in crops])}


def pnet_held_out() -> Iterable[dict[str, Images]]:
    """48 images in eight sizes."""
    return proposals(HELD_OUT_SEED, N_PROPOSALS)


def pnet_calibration() -> Iterable[dict[str, Images]]:
    """16 other images in the same sizes."""
    return proposals(CALIBRATION_SEED, 2)


def rnet_held_out() -> dict[str, Images]:
    """450 crops of 24 x 24."""
    return squares(N_HELD_OUT, HELD_OUT_SEED, 24)


def rnet_calibration() -> dict[str, Images]:
    """48 other crops of 24 x 24."""
    return squares(N_CALIBRATION, CALIBRATION_SEED, 24)


def onet_held_out() -> dict[str, Images]:
    """450 crops of 48 x 48."""
    return squares(N_HELD_OUT, HELD_OUT_SEED, 48)


def onet_calibration() -> dict[str, Images]:
    """48 other crops of 48 x 48."""
    return squares(N_CALIBRATION, CALIBRATION_SEED, 48)


def with_weights(module: nn.Module, name: str) -> nn.Module:
    """Load the weights that the package ships, as tensors alone."""
    module.load_state_dict(torch.load(WEIGHTS / name, weights_only=True))
    return module.eval()


@parity.register(
    "mtcnn_pnet",
    input="image: float32[N, 3, H in 12..96, W in 12..96]",
    samples=pnet_held_out,
    calibration=pnet_calibration,
    decision={"output_0": "none", "output_1": "segmentation"},
)
def pnet() -> nn.Module:
    """Image of any size to box offsets [N, 4, h, w] and the probability of a face [N, 2, h, w]."""
    return with_weights(PNet(pretrained=False), "pnet.pt")


@parity.register(
    "mtcnn_rnet",
    input="image: float32[N, 3, 24, 24]",
    samples=rnet_held_out,
    calibration=rnet_calibration,
    decision={"output_0": "none", "output_1": "classes"},
)
def rnet() -> nn.Module:
    """Crop to box offsets [N, 4] and the probability of a face [N, 2]."""
    return with_weights(RNet(pretrained=False), "rnet.pt")


@parity.register(
    "mtcnn_onet",
    input="image: float32[N, 3, 48, 48]",
    samples=onet_held_out,
    calibration=onet_calibration,
    decision={"output_0": "none", "output_1": "none", "output_2": "classes"},
)
def onet() -> nn.Module:
    """Crop to box offsets [N, 4], five landmarks [N, 10] and the probability of a face [N, 2]."""
    return with_weights(ONet(pretrained=False), "onet.pt")
