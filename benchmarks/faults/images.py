"""Crops of two photographs as float images."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_sample_image
from torchvision.transforms import v2

from suites import crops

SAMPLES = 16
"""Held-out crops of each network: two calls of eight."""

CALIBRATION = 16
"""Crops that batch statistics are taken from; none of them is held out."""


def held_out(size: int) -> NDArray[np.float32]:
    """Held-out images, float32 [16, 3, size, size], normalised as for ImageNet."""
    return _pixels(crops.draw().held_out[:SAMPLES], size)


def calibration(size: int) -> NDArray[np.float32]:
    """Other images, float32 [16, 3, size, size]."""
    return _pixels(crops.draw().calibration[:CALIBRATION], size)


def _pixels(chosen: tuple[crops.Crop, ...], size: int) -> NDArray[np.float32]:
    # Floats before they are resized: values between the 256 steps of a photograph, as any interpolation makes them.
    prepare = v2.Compose(
        [
            v2.ToDtype(torch.float32, scale=True),
            v2.Resize((size, size), antialias=True),
            v2.Normalize(crops.IMAGENET_MEAN, crops.IMAGENET_STD),
        ]
    )
    photographs = [v2.functional.to_image(load_sample_image(name)) for name in crops.PHOTOGRAPHS]
    cut = (v2.functional.crop(photographs[c.photograph], c.top, c.left, c.side, c.side) for c in chosen)
    stacked: NDArray[np.float32] = torch.stack([prepare(image) for image in cut]).numpy()
    return stacked
