"""What an exporter is: it turns a module into the files of an artifact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from parity.arrays import Array
from parity.artifacts import Artifact, Declared
from parity.models.signature import Signature
from parity.registry import Availability

if TYPE_CHECKING:
    import torch
    from torch import nn


@dataclass(frozen=True)
class ExportJob:
    """Everything that an exporter may use.

    Attributes:
        module: The model in eval mode; an exporter that changes it works on a copy.
        example: One call at batch 2 or more, tensors in the order of `forward`.
        signature: Which dimensions are dynamic, and within which bounds.
        outputs: Names of the outputs in the order in which the module returns them.
        calibration: Batches of calibration inputs in the order of `forward`, or None without any.
        folder: Where the files go.
        source: The artifact of the exporter named by `Exporter.source`, where it has one.
    """

    module: nn.Module
    example: tuple[torch.Tensor, ...]
    signature: Signature
    outputs: tuple[str, ...]
    calibration: Callable[[], Iterable[tuple[torch.Tensor, ...]]] | None
    folder: Path
    source: Artifact | None = None

    def named(self, call: tuple[torch.Tensor, ...]) -> dict[str, Array]:
        """A call as NumPy arrays by input name."""
        return {name: tensor.numpy() for name, tensor in zip(self.signature.names, call, strict=True)}


@dataclass(frozen=True)
class Exported:
    """The file to open, what a reader should know of how it was made, and the dimensions that it declares.

    Those of an ONNX file are read from it where they are left out.
    """

    entry: str
    notes: tuple[str, ...] = ()
    declared: Declared | None = None


def on_request(exporter: Exporter) -> bool:
    """Whether it is left out of the plan until somebody names it; most exporters need not say that they are not."""
    return bool(getattr(exporter, "on_request", False))


class Exporter(Protocol):
    """One way to export a model.

    One that takes long, or makes nothing to ship, may have an attribute `on_request = True`: it is planned only where
    it is named.
    """

    @property
    def name(self) -> str:
        """The first half of a target's name."""
        ...

    @property
    def format(self) -> str:
        """The format of what it makes."""
        ...

    @property
    def precision(self) -> str:
        """`float`, judged by the floor, or `int8`, judged by decisions."""
        ...

    @property
    def runtime(self) -> str:
        """The runtime that the exporter's name alone stands for."""
        ...

    @property
    def source(self) -> str | None:
        """The exporter whose artifact this one starts from, or None."""
        ...

    def options(self) -> Mapping[str, str]:
        """Whatever changes the result besides the model: part of the cache key."""
        ...

    def availability(self) -> Availability:
        """Version, or the reason why it cannot be used here; imports nothing heavy."""
        ...

    def export(self, job: ExportJob) -> Exported:
        """Write the artifact's files into `job.folder`.

        Raises:
            Unsupported: it does not apply to this model, such as quantizing where nothing can be.
            Exception: whatever the export raises; it becomes the cell's record.
        """
        ...
