"""Crops of two photographs: real images with a decision to make, and no download.

A crop is labelled with the photograph and the quadrant it was cut from. The training, calibration
and held-out crops are drawn without replacement, so that no two are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torchvision.transforms import v2

SIZE = 112
SMALL = 56
N_TRAINING = 800
N_CALIBRATION = 32
N_HELD_OUT = 400
N_FEW = 200

PHOTOGRAPHS = ("china.jpg", "flower.jpg")
HEIGHT, WIDTH = 427, 640
SIDES = (110, 190)
N_CLASSES = len(PHOTOGRAPHS) * 4
N_COLOURS = 3
SEED = 71

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Crop:
    """A square cut from a photograph: indices and pixels."""

    photograph: int
    quadrant: int
    top: int
    left: int
    side: int

    @property
    def label(self) -> int:
        """Class of the crop, in 0..N_CLASSES-1."""
        return self.photograph * 4 + self.quadrant


@dataclass(frozen=True)
class Crops:
    """Disjoint crops for the three uses of them."""

    training: tuple[Crop, ...]
    calibration: tuple[Crop, ...]
    held_out: tuple[Crop, ...]


def draw() -> Crops:
    """Draw the crops of every part from one seeded stream, each only once, classes in turn."""
    rng = np.random.default_rng(SEED)
    drawn: dict[Crop, None] = {}
    while len(drawn) < N_TRAINING + N_CALIBRATION + N_HELD_OUT:
        photograph, quadrant = divmod(len(drawn) % N_CLASSES, 4)
        row, column = divmod(quadrant, 2)
        side = int(rng.integers(*SIDES, endpoint=True))
        top = row * (HEIGHT // 2) + int(rng.integers(HEIGHT // 2 - side, endpoint=True))
        left = column * (WIDTH // 2) + int(rng.integers(WIDTH // 2 - side, endpoint=True))
        drawn.setdefault(Crop(photograph, quadrant, top, left, side))
    order = tuple(drawn)
    held_out = N_TRAINING + N_CALIBRATION
    return Crops(order[:N_TRAINING], order[N_TRAINING:held_out], order[held_out:])


def pixels(crops: tuple[Crop, ...], size: int = SIZE) -> NDArray[np.float32]:
    """Cut, resize and normalise crops: float32 [n, 3, size, size], ImageNet mean and deviation."""
    from sklearn.datasets import load_sample_image  # noqa: PLC0415  # half a second, and every worker imports this file

    photographs = [v2.functional.to_image(load_sample_image(name)) for name in PHOTOGRAPHS]
    prepare = v2.Compose(
        [
            v2.Resize((size, size), antialias=True),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(IMAGENET_MEAN, IMAGENET_STD),
        ]
    )
    cut = (v2.functional.crop(photographs[c.photograph], c.top, c.left, c.side, c.side) for c in crops)
    stacked: NDArray[np.float32] = torch.stack([prepare(image) for image in cut]).numpy()
    return stacked


def classes(crops: tuple[Crop, ...]) -> NDArray[np.int64]:
    """Labels of crops, int64 [n]."""
    return np.array([crop.label for crop in crops], dtype=np.int64)


def photographs_of(crops: tuple[Crop, ...]) -> NDArray[np.int64]:
    """Photographs that crops were cut from, int64 [n] in 0..1."""
    return np.array([crop.photograph for crop in crops], dtype=np.int64)


def held_out() -> dict[str, NDArray[np.float32]]:
    """Held-out images, ``image`` float32 [400, 3, 112, 112].

    With one int8 flip in 200 an agreement of 0.98 cannot be told from less: 335 decisions decide.
    """
    return {"image": pixels(draw().held_out)}


def held_out_few() -> dict[str, NDArray[np.float32]]:
    """The first of them, ``image`` float32 [200, 3, 112, 112], for a model that decides on every pixel."""
    return {"image": pixels(draw().held_out[:N_FEW])}


def held_out_small() -> dict[str, NDArray[np.float32]]:
    """The same ones in ``image`` float32 [200, 3, 56, 56], for a model that is slow."""
    return {"image": pixels(draw().held_out[:N_FEW], SMALL)}


def held_out_labels() -> NDArray[np.int64]:
    """Photograph and quadrant of each held-out image, int64 [400]."""
    return classes(draw().held_out)


def held_out_small_photographs() -> NDArray[np.int64]:
    """Photograph of each of the small held-out images, int64 [200]."""
    return photographs_of(draw().held_out[:N_FEW])


def calibration() -> dict[str, NDArray[np.float32]]:
    """Calibration images, ``image`` float32 [32, 3, 112, 112], none of them held out."""
    return {"image": pixels(draw().calibration)}


def calibration_small() -> dict[str, NDArray[np.float32]]:
    """The same ones in ``image`` float32 [32, 3, 56, 56]."""
    return {"image": pixels(draw().calibration, SMALL)}


def colours(image: torch.Tensor) -> torch.Tensor:
    """Class of every pixel: 0 dark, 1 bright and rather blue, 2 bright and rather red.

    Takes normalised float32 [n, 3, H, W] and returns int64 [n, H, W].
    """
    red, blue = image[:, 0], image[:, 2]
    bright = image.mean(1) > 0
    return torch.where(bright, torch.where(blue > red, 1, 2), 0)
