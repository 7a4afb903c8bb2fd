"""torchvision's architectures: built by name, without weights of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parity.errors import ModelError
from parity.models.architectures import recognition
from parity.models.architectures.references import Reference, cannot_build, parse_reference, require, unknown
from parity.models.architectures.schemes import Made, seeded

SEGMENTED = 320
"""Height and width of the images that segmentation networks get. Their weights were evaluated at 520, which costs
minutes a call on two cores. DeepLab's widest dilation reaches 36 steps of 8 pixels: below 296 pixels those weights
see nothing but padding, and a fault in them would go unseen."""

FRAMES = 16
"""Frames of a video: what torchvision's video networks were trained on, and what MViT's positions are made for."""

_LISTING = 'python -c "import torchvision; print(torchvision.models.list_models())"'

_WRAPPER = """\
write a module that takes a batch of one: --arch detect.py:Detect --input "image: float32[1, 3, 320, 320]"
           class Detect(torch.nn.Module):
               def __init__(self):
                   super().__init__()
                   self.net = torchvision.models.get_model({name!r}, weights=None, weights_backbone=None{arguments})
                   self.net.load_state_dict(torch.load("weights.pt"))
               def forward(self, image):
                   found = self.net(list(image))[0]
                   return found["boxes"], found["scores"], found["labels"]"""


class Torchvision:
    """`torchvision:NAME(key=literal, ...)`."""

    name = "torchvision"
    carries_weights = False

    def build(self, text: str, root: Path) -> Made:  # noqa: ARG002  # nothing lies in the project
        """`get_model` with no weights from anywhere."""
        reference = parse_reference(self.name, text)
        models = _models(reference)
        from parity.models.architectures.making import offline  # noqa: PLC0415  # torch

        try:
            options = offline(reference.name) | reference.options
            return Made(seeded(lambda: models.get_model(reference.name, **options)))
        except Exception as error:
            raise cannot_build(reference, error) from error

    def import_code(self, text: str, root: Path) -> None:  # noqa: ARG002  # the protocol has it
        """The package registers its operators."""
        require("torchvision", f"{self.name}:{text}")

    def known_inputs(self, text: str, root: Path) -> tuple[str, ...] | None:  # noqa: ARG002  # the protocol has it
        """Sizes of the images that the default weights were evaluated on, from torchvision's own description of them.

        Fixed sizes: many of these networks take others, and which ones is nothing that torchvision says.
        """
        reference = parse_reference(self.name, text)
        models = _models(reference)
        kind = models.get_model_builder(reference.name).__module__.split(".")[2]
        if kind == "detection":
            raise _needs_wrapper(reference)
        weights = models.get_model_weights(reference.name).DEFAULT
        if kind == "optical_flow":
            height, width = weights.meta["min_size"]
            return tuple(f"{image}: float32[N, 3, {height}, {width}]" for image in ("image1", "image2"))
        if kind == "segmentation":
            return (f"image: float32[N, 3, {SEGMENTED}, {SEGMENTED}]",)
        height, width = _size(reference, weights)
        frames = f"{FRAMES}, " if kind == "video" else ""
        return (f"{'video' if frames else 'image'}: float32[N, 3, {frames}{height}, {width}]",)

    def fitted(self, text: str, shapes: Mapping[str, tuple[int, ...]]) -> str:
        """From the index, without building anything."""
        return recognition.fitted(parse_reference(self.name, text), shapes).text


def _models(reference: Reference) -> Any:
    require("torchvision", str(reference))
    models = require("torchvision.models", str(reference))
    known = models.list_models()
    if reference.name not in known:
        raise unknown(reference, known, _LISTING)
    return models


def _size(reference: Reference, weights: Any) -> tuple[int, int]:
    """Height and width: what the module itself is made for, else what its weights were evaluated on."""
    from parity.models.architectures.making import without_data  # noqa: PLC0415  # torch

    try:
        module = without_data(reference.name, **reference.options)
    except Exception as error:
        raise cannot_build(reference, error) from error
    own = getattr(module, "image_size", None)
    if isinstance(own, int):
        return own, own
    crop = weights.transforms().crop_size
    return (crop[0], crop[-1])


def _needs_wrapper(reference: Reference) -> ModelError:
    arguments = "".join(f", {key}={value!r}" for key, value in reference.arguments)
    return ModelError(
        "a detector takes a list of images, and so has no inputs that parity could give it",
        where=str(reference),
        allowed="a module that takes tensors and gives tensors",
        hint=_WRAPPER.format(name=reference.name, arguments=arguments),
    )
