"""Objects that hold samples, as users have them: functions, Datasets, DataLoaders, and ways of preparing pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

HERE = str(Path(__file__).resolve())
IMAGES = torch.arange(5 * 3 * 2, dtype=torch.float32).reshape(5, 3, 2)
CLASSES = torch.tensor([3, 1, 4, 1, 5])

WITH_LABELS = TensorDataset(IMAGES, CLASSES)
"""Pairs, as torch's own class gives them."""

IN_ORDER = DataLoader(WITH_LABELS, batch_size=2)
SHUFFLED = DataLoader(WITH_LABELS, batch_size=2, shuffle=True)
WITH_WORKERS = DataLoader(WITH_LABELS, batch_size=2, num_workers=2, timeout=9, persistent_workers=True)
ONE_BY_ONE = DataLoader(WITH_LABELS, batch_size=None)


class Photos(Dataset[Any]):
    """Map-style, without an end of its own: torch asks `__len__`."""

    def __len__(self) -> int:
        return len(IMAGES)

    def __getitem__(self, index: int) -> Any:
        return {"x": IMAGES[index % len(IMAGES)].numpy(), "label": int(CLASSES[index % len(IMAGES)])}


class Augmented(Photos):
    """Another crop each time."""

    def __getitem__(self, index: int) -> Any:
        return IMAGES[index] + torch.rand(1), CLASSES[index]


class Streamed(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        yield from zip(IMAGES, CLASSES, strict=True)


def stacked_pair() -> Any:
    return IMAGES.numpy(), CLASSES.numpy()


def generated() -> Iterator[Any]:
    yield from IMAGES


def half_precision() -> Any:
    return [row.to(torch.bfloat16) for row in IMAGES]


def on_the_tape() -> Any:
    return IMAGES.clone().requires_grad_()


def named_pairs() -> Iterator[Any]:
    for image, label in zip(IMAGES, CLASSES, strict=True):
        yield {"x": image}, int(label)


def breaks_off() -> Iterator[Any]:
    yield IMAGES[0]
    raise OSError("the disk is gone")


def with_targets() -> Iterator[Any]:
    """Pairs whose second is nothing to label a decision with."""
    for image in IMAGES:
        yield image, {"boxes": torch.zeros(2, 4)}


def some_labelled() -> Iterator[Any]:
    for index, image in enumerate(IMAGES):
        yield {"x": image, "label": 1} if index else {"x": image}


def two_inputs() -> Iterator[Any]:
    for length in (3, 7, 5):
        yield torch.zeros(length, 4), torch.ones(length, dtype=torch.int64)


def two_inputs_labelled() -> Iterator[Any]:
    for sample in two_inputs():
        yield (*sample, 2)


def two_stacked() -> Any:
    return [torch.zeros(4, 2), torch.ones(4, 3)]


def nothing() -> None:
    """Forgets to return."""


def words() -> Iterator[Any]:
    yield {"x": "a sentence"}


def plain_numbers() -> Any:
    return [[0, 1.5], [2, 3]]


def nested() -> Any:
    return torch.nested.nested_tensor([torch.zeros(2), torch.ones(3)])


def ragged() -> Any:
    return {"x": [[1], [2, 3]], "y": [0, 1]}


def empty() -> Any:
    return []


def as_numbers(picture: Any) -> Any:
    """A picture as float32[3, H, W] between 0 and 1."""
    return (np.asarray(picture, np.float32) / 255).transpose(2, 0, 1)


def as_inputs(picture: Any) -> Any:
    return {"image": as_numbers(picture), "size": np.asarray(picture.size)}


def at_random(picture: Any) -> Any:
    return as_numbers(picture) + np.random.default_rng().random(dtype=np.float32)


def fails(picture: Any) -> Any:
    raise ValueError(f"{picture.mode} is not what this was written for")


class NamedPictures(Dataset[Any]):
    """What is read from image datasets by column."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        from PIL import Image

        return {"image": Image.new("RGB", (4, 3)), "id": index, "label": 1 - index}


class Pictures(Dataset[Any]):
    """Pairs of a PIL image and a label, as torchvision gives them without a transform."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        from PIL import Image

        return Image.new("RGB", (4, 3), (255 * index, 0, 0)), index
