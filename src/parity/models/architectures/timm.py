"""timm's architectures: built by name, without weights of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parity.models.architectures.references import Reference, cannot_build, parse_reference, require, unknown
from parity.models.architectures.schemes import Made, seeded

_LISTING = "python -c \"import timm; print(timm.list_models('*resnet*'))\""


class Timm:
    """`timm:NAME(key=literal, ...)`; a tag of weights may follow the name (`vit_base_patch16_224.augreg_in21k`)."""

    name = "timm"
    carries_weights = False

    def build(self, text: str, root: Path) -> Made:  # noqa: ARG002  # nothing lies in the project
        """`create_model` with `pretrained=False`."""
        reference = parse_reference(self.name, text)
        timm = _timm(reference)
        try:
            return Made(seeded(lambda: timm.create_model(reference.name, pretrained=False, **reference.options)))
        except Exception as error:
            raise cannot_build(reference, error) from error

    def import_code(self, text: str, root: Path) -> None:  # noqa: ARG002  # the protocol has it
        """The package registers its operators."""
        require("timm", f"{self.name}:{text}")

    def known_inputs(self, text: str, root: Path) -> tuple[str, ...] | None:  # noqa: ARG002  # the protocol has it
        """The size in the configuration of the weights that the name stands for, or in the arguments."""
        reference = parse_reference(self.name, text)
        timm = _timm(reference)
        config = timm.get_pretrained_cfg(reference.name)
        if config is None or len(config.input_size) != len(("channels", "height", "width")):
            return None
        channels, height, width = config.input_size
        size = reference.options.get("img_size", (height, width))
        height, width = (size, size) if isinstance(size, int) else size
        return (f"image: float32[N, {reference.options.get('in_chans', channels)}, {height}, {width}]",)

    def fitted(self, text: str, shapes: Mapping[str, tuple[int, ...]]) -> str:
        """The number of classes that its classifier has in a state dict, by timm's own name of that layer."""
        reference = parse_reference(self.name, text)
        config = _timm(reference).get_pretrained_cfg(reference.name)
        named = config.classifier if config is not None else None
        classifiers = (named,) if isinstance(named, str) else tuple(named or ())
        for key, shape in shapes.items():
            if any(key == f"{each}.weight" or key.endswith(f".{each}.weight") for each in classifiers):
                default = config.num_classes
                return reference.text if shape[0] == default else reference.with_arguments(num_classes=shape[0]).text
        return reference.text


def _timm(reference: Reference) -> Any:
    timm = require("timm", str(reference))
    if not timm.is_model(reference.name):
        raise unknown(reference, timm.list_models(), _LISTING)
    return timm
