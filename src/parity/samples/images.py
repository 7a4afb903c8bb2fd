"""Pictures as samples: opened one at a time, turned upright, made RGB, and prepared as for evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from parity.arrays import Array, digest
from parity.errors import SampleError, UsageError, did_you_mean
from parity.models.refs import is_reference, resolve
from parity.samples.arranging import Prepare, changing
from parity.samples.rows import Key, Row, Rows
from parity.samples.values import array_of

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".jfif")
"""Files that are taken for pictures in a folder."""

PREPROCESS = "torchvision:WEIGHTS such as torchvision:ResNet18_Weights.IMAGENET1K_V1, or package.module:function"

_TORCHVISION = "torchvision:"
_SIXTEEN_TO_EIGHT = 257
"""65535 / 255: what turns 16 bits of grey into 8."""


def preprocessing(reference: str, root: Path) -> Prepare:
    """What makes the inputs of a model from a picture.

    Args:
        reference: `torchvision:` and weights (`ResNet18_Weights.IMAGENET1K_V1`) or a model (`resnet18`) whose
            transforms are taken, nothing being downloaded; or a function from a PIL image to an array or a
            dictionary of arrays.
        root: What a reference starts from.

    Raises:
        SampleError: there is no such reference, or a package that it needs is missing.
    """
    if reference.startswith(_TORCHVISION):
        transform = _transforms(reference.removeprefix(_TORCHVISION))
    elif is_reference(reference):
        transform = resolve(reference, root, "preprocessing")
    else:
        raise UsageError("this preprocessing cannot be read", allowed=PREPROCESS, got=reference)
    if not callable(transform):
        raise SampleError(
            "the preprocessing is no function", where=reference, allowed="a function from a PIL image to an array",
            got=type(transform).__name__,
        )  # fmt: skip

    def prepare(picture: Any, place: str) -> Mapping[Key, Any]:
        try:
            made = transform(picture)
        except Exception as error:
            what = f"the preprocessing {reference} raised {type(error).__name__}: {error}"
            raise SampleError(what, where=place) from error
        return {str(name): value for name, value in made.items()} if isinstance(made, Mapping) else {0: made}

    return prepare


def _transforms(name: str) -> Callable[[Any], Any]:
    where = f"{_TORCHVISION}{name}"
    try:
        from torchvision import models  # noqa: PLC0415  # only where its transforms are asked for
    except ImportError as error:
        raise SampleError("this preprocessing needs torchvision", where=where, got=str(error),
                          hint="pip install torchvision") from error  # fmt: skip
    except RuntimeError as error:
        raise SampleError("torchvision does not fit the installed torch", where=where, got=str(error).splitlines()[0],
                          hint="pip install --upgrade torch torchvision") from error  # fmt: skip
    try:
        weights = models.get_weight(name) if "." in name else models.get_model_weights(name).DEFAULT
    except (ValueError, KeyError, AttributeError) as error:
        kind, _, _ = name.partition(".")
        hint = did_you_mean(kind, models.list_models()) if "." not in name else _known_weights(models, kind)
        raise SampleError("torchvision has no such weights", where=where, allowed=PREPROCESS, hint=hint) from error
    transforms: Callable[[Any], Any] = weights.transforms()
    return transforms


def _known_weights(models: Any, kind: str) -> str:
    enums = {models.get_model_weights(each).__name__: models.get_model_weights(each) for each in models.list_models()}
    if kind in enums:
        return f"known: {', '.join(f'{kind}.{each.name}' for each in enums[kind])}"
    return did_you_mean(kind, enums)


def open_images(files: Sequence[Path], labels: Array | None, where: str, prepare: Prepare | None) -> Rows:
    """One sample a picture, opened when it is asked for.

    Raises:
        SampleError: there is no preprocessing, or Pillow is not installed.
    """
    if prepare is None:
        raise SampleError(
            "these are pictures, and nothing says how the model's input is made from one", where=where,
            allowed=PREPROCESS, hint="add --preprocess torchvision:resnet18, or what the model was evaluated with",
        )  # fmt: skip
    try:
        import PIL.Image  # noqa: F401, PLC0415  # only to say that it is missing before anything is read
    except ImportError as error:
        raise SampleError("pictures need Pillow", where=where, got=str(error), hint="pip install pillow") from error
    return Rows(where, _rows(files, prepare), labels)


def _rows(files: Sequence[Path], prepare: Prepare) -> Iterator[Row]:
    for number, path in enumerate(files):
        picture = open_picture(path)
        values = prepare(picture, str(path))
        if number == 0 and _digests(values, path) != _digests(prepare(open_picture(path), str(path)), path):
            raise changing(str(path), "the preprocessing")
        yield Row(values, str(path))


def _digests(values: Mapping[Key, Any], path: Path) -> list[str]:
    return [digest(array_of(value, str(path))) for value in values.values()]


def open_picture(path: Path) -> Image:
    """A picture as it is looked at: turned as its EXIF data say, RGB, its first frame, without transparency.

    Raises:
        SampleError: it is broken, or of a kind whose numbers have no agreed range.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError  # noqa: PLC0415  # only where there are pictures

    try:
        with Image.open(path) as opened:
            picture = ImageOps.exif_transpose(opened)
            picture.load()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SampleError(f"this picture is broken: {error}", where=str(path),
                          hint="take it out of the folder, or copy it again") from error  # fmt: skip
    if picture.mode.startswith("I;16"):
        return Image.fromarray((np.asarray(picture) // _SIXTEEN_TO_EIGHT).astype(np.uint8)).convert("RGB")
    if picture.mode in ("I", "F"):
        raise SampleError(
            "the numbers of this picture have no agreed range", where=str(path), got=f"mode {picture.mode}, 32 bits",
            allowed="8 or 16 bits a channel", hint="convert it, or give arrays",
        )  # fmt: skip
    # A palette with transparency loses its colours unless it becomes RGBA first.
    return (picture.convert("RGBA") if picture.mode in ("P", "PA") else picture).convert("RGB")
