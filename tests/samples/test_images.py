"""Pictures become samples as they would for evaluation, and a broken one is named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parity.errors import SampleError, UsageError
from parity.models.signature import parse_signature
from parity.samples.images import open_picture
from parity.samples.sources import infer_inputs, read_samples
from tests.samples import given
from tests.samples.reading import read

PIL = pytest.importorskip("PIL.Image", reason="pictures need Pillow")
IMAGE = parse_signature("image: float32[N, 3, H, W]")
NUMBERS = f"{given.HERE}:as_numbers"


def paint(
    path: Path, colour: Any = (255, 0, 0), mode: str = "RGB", size: tuple[int, int] = (6, 4), **saved: Any
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    PIL.new(mode, size, colour).save(path, **saved)
    return path


def test_a_picture_is_a_sample_and_the_order_is_natural(tmp_path: Path) -> None:
    for index in (10, 9):
        paint(tmp_path / "d" / f"{index}.png", (index, 0, 0))
    (tmp_path / "d" / "Thumbs.db").write_bytes(b"")
    rows, labels = read("d", IMAGE, tmp_path, NUMBERS)
    assert [round(255 * row[0][0][0]) for row in rows] == [9, 10]
    assert np.shape(rows[0]) == (3, 4, 6)
    assert labels is None


def test_subfolders_are_classes_as_torchvision_has_them(tmp_path: Path) -> None:
    folders = pytest.importorskip("torchvision.datasets", reason="what it is held against")
    for name in ("zebra/2.png", "cat/b.jpg", "cat/a.png", "10/deep/x.PNG", "2/x.png"):
        paint(tmp_path / "d" / name)
    _, labels = read("d", IMAGE, tmp_path, NUMBERS)
    assert labels == [label for _, label in folders.ImageFolder(tmp_path / "d").samples] == [0, 1, 2, 2, 3]


@pytest.mark.parametrize(
    ("mode", "colour"),
    [
        ("L", 200),
        ("RGBA", (1, 2, 3, 4)),
        ("CMYK", (0, 255, 255, 0)),
        ("1", 1),
        ("LA", (200, 9)),
        ("I;16", 51400),
    ],
)
def test_every_mode_becomes_rgb(tmp_path: Path, mode: str, colour: Any) -> None:
    suffix = "tif" if mode in ("CMYK", "I;16") else "png"
    picture = open_picture(paint(tmp_path / f"x.{suffix}", colour, mode))
    assert picture.mode == "RGB"
    expected = {
        "CMYK": (255, 0, 0),
        "RGBA": (1, 2, 3),
        "1": (255,) * 3,
        "L": (200,) * 3,
        "LA": (200,) * 3,
        "I;16": (200,) * 3,
    }
    assert picture.getpixel((0, 0)) == expected.get(mode, picture.getpixel((0, 0)))


def test_a_transparent_palette_keeps_its_colours(tmp_path: Path) -> None:
    picture = PIL.new("P", (2, 2), 1)
    picture.putpalette([0, 0, 0, 10, 20, 30])
    picture.save(tmp_path / "x.png", transparency=bytes([0, 255]))
    assert open_picture(tmp_path / "x.png").getpixel((0, 0)) == (10, 20, 30)


def test_a_photograph_is_turned_upright(tmp_path: Path) -> None:
    picture = PIL.new("RGB", (6, 4))
    picture.putpixel((0, 0), (255, 255, 255))
    exif = PIL.Exif()
    exif[0x0112] = 6  # the top is at the right
    picture.save(tmp_path / "x.png", exif=exif)
    upright = open_picture(tmp_path / "x.png")
    assert (upright.size, upright.getpixel((3, 0))) == ((4, 6), (255, 255, 255))


def test_numbers_without_a_range_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match="no agreed range"):
        open_picture(paint(tmp_path / "x.tif", 0.5, "F"))


@pytest.mark.parametrize("content", [b"", b"no picture", "cut"])
def test_a_broken_picture_is_named(tmp_path: Path, content: bytes | str) -> None:
    paint(tmp_path / "d" / "0.png")
    path = paint(tmp_path / "d" / "1.jpg", size=(60, 60))
    path.write_bytes(path.read_bytes()[:-40] if content == "cut" else bytes(content))  # type: ignore[arg-type]  # bytes
    with pytest.raises(SampleError, match="this picture is broken") as caught:
        read("d", IMAGE, tmp_path, NUMBERS)
    assert caught.value.where == str(path)


def test_only_the_picture_that_is_asked_for_is_opened(tmp_path: Path) -> None:
    paint(tmp_path / "d" / "0.png")
    (tmp_path / "d" / "1.png").write_bytes(b"broken")
    samples, _ = read_samples("d", IMAGE, tmp_path, NUMBERS)
    assert next(iter(samples))["image"].shape == (3, 4, 6)


def test_a_picture_alone_is_one_sample(tmp_path: Path) -> None:
    paint(tmp_path / "x.png")
    assert len(read("x.png", IMAGE, tmp_path, NUMBERS)[0]) == 1


def test_without_preprocessing_the_message_says_how_to_give_one(tmp_path: Path) -> None:
    paint(tmp_path / "d" / "0.png")
    with pytest.raises(SampleError, match="nothing says how") as caught:
        read("d", IMAGE, tmp_path)
    assert "--preprocess torchvision:resnet18" in str(caught.value.hint)


def test_preprocessing_may_give_every_input(tmp_path: Path) -> None:
    paint(tmp_path / "d" / "0.png")
    signature = parse_signature(["image: float32[N, 3, H, W]", "size: int64[N, 2]"])
    assert read("d", signature, tmp_path, f"{given.HERE}:as_inputs")[0][0]["size"] == [6, 4]


def test_the_transforms_of_weights_are_those_of_torchvision(tmp_path: Path) -> None:
    models = pytest.importorskip("torchvision.models", reason="its transforms")
    path = paint(tmp_path / "d" / "0.png", (10, 200, 30), size=(300, 260))
    signature = parse_signature("image: float32[N, 3, 224, 224]")
    (default,), (named,) = (
        read("d", signature, tmp_path, f"torchvision:{name}")[0]
        for name in ("resnet18", "ResNet18_Weights.IMAGENET1K_V1")
    )
    assert default == named == models.ResNet18_Weights.DEFAULT.transforms()(PIL.open(path)).tolist()
    assert infer_inputs("d", tmp_path, ["image"], "torchvision:resnet18") == ("image: float32[N, 3, 224, 224]",)


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("torchvision:resnet81", "'resnet18'"),
        ("torchvision:ResNet18_Weights.IMAGENET", "ResNet18_Weights.IMAGENET1K_V1"),
        ("torchvision:Resnet18_Weights.DEFAULT", "'ResNet18_Weights'"),
        (f"{given.HERE}:fails", "raised ValueError: RGB is not what"),
        (f"{given.HERE}:HERE", "no function"),
        (f"{given.HERE}:nothing", "nothing"),
        (f"{given.HERE}:at_random", "gives other numbers when it is asked again"),
        ("resnet18", "torchvision:WEIGHTS"),
    ],
)
def test_wrong_preprocessing_says_what_is_wrong(tmp_path: Path, reference: str, says: str) -> None:
    pytest.importorskip("torchvision", reason="its transforms")
    paint(tmp_path / "d" / "0.png")
    with pytest.raises((SampleError, UsageError)) as caught:
        read("d", IMAGE, tmp_path, reference)
    assert says in str(caught.value)


@pytest.mark.parametrize(("package", "command"), [("torchvision", "torchvision"), ("PIL", "pillow")])
def test_a_missing_package_is_named_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, command: str
) -> None:
    paint(tmp_path / "d" / "0.png")
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SampleError) as caught:
        read("d", IMAGE, tmp_path, "torchvision:resnet18" if package == "torchvision" else NUMBERS)
    assert caught.value.hint == f"pip install {command}"


def test_raw_pixels_for_a_float_input_are_told_of_preprocessing(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((2, 3, 4, 4), np.uint8))
    with pytest.raises(SampleError, match="another dtype") as caught:
        read("x.npy", IMAGE, tmp_path)
    assert "--preprocess" in str(caught.value.hint)
