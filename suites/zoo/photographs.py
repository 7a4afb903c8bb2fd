"""Three photographs without a download: two that scikit-learn ships, and a face that scikit-image does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import skimage
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_sample_image
from torch.nn import functional

Pixels = NDArray[np.uint8]


class Box(NamedTuple):
    """A square cut from one photograph, in its pixels."""

    photograph: int
    top: int
    left: int
    side: int


FACE = Box(photograph=2, top=60, left=160, side=130)
"""Where the face is in the third photograph."""


def photographs() -> tuple[Pixels, Pixels, Pixels]:
    """A temple and a flower, uint8 [427, 640, 3], and a portrait of an astronaut, uint8 [512, 512, 3]."""
    return load_sample_image("china.jpg"), load_sample_image("flower.jpg"), skimage.data.astronaut()


def resized(pixels: Pixels, height: int, width: int) -> NDArray[np.float32]:
    """Average an image, uint8 [h, w, 3], down (or up) to float32 [3, height, width] in 0..255."""
    image = torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].float()
    made: NDArray[np.float32] = functional.interpolate(image, (height, width), mode="area")[0].numpy()
    return made


def cut(images: tuple[Pixels, ...], box: Box) -> Pixels:
    """The pixels of a box, uint8 [side, side, 3]."""
    return images[box.photograph][box.top : box.top + box.side, box.left : box.left + box.side]


def boxes(n: int, seed: int) -> list[Box]:
    """`n` different squares: every third one near the face, the others anywhere in any photograph."""
    rng = np.random.default_rng(seed)
    shapes = [image.shape for image in photographs()]
    drawn: dict[Box, None] = {}
    while len(drawn) < n:
        if len(drawn) % 3 == 0:
            side = int(FACE.side * rng.uniform(0.7, 1.5))
            top, left = (int(place + rng.uniform(-0.25, 0.25) * side) for place in (FACE.top, FACE.left))
            drawn.setdefault(Box(FACE.photograph, max(top, 0), max(left, 0), side))
            continue
        photograph = int(rng.integers(len(shapes)))
        height, width, _ = shapes[photograph]
        side = int(rng.integers(24, 240))
        drawn.setdefault(Box(photograph, int(rng.integers(height - side)), int(rng.integers(width - side)), side))
    return list(drawn)
