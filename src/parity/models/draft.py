"""A model as far as a request describes it; its file and its samples tell the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

from parity.models.signature import Signature, parse_signature
from parity.models.spec import ModelSpec

NO_INPUTS = Signature(())
"""The signature of a draft of which nothing has told the inputs."""


@dataclass(frozen=True)
class Draft:
    """What is known of a model before its file is opened.

    Attributes:
        spec: What is known. An empty factory and a signature without inputs stand for what is not.
        fit: Whether the architecture is a name that may need arguments, such as the number of classes, to fit
            the weights.
    """

    spec: ModelSpec
    fit: bool = False

    @property
    def whole(self) -> bool:
        """Whether there is nothing left to find out."""
        return bool(self.spec.factory and self.spec.signature.inputs) and not self.fit

    def with_changes(self, **changes: object) -> Draft:
        """A copy in which every change of the spec that is not None is made."""
        return replace(self, spec=self.spec.with_changes(**changes))


def written_signature(inputs: tuple[str, ...]) -> Signature:
    """The signature of written inputs, or that of a draft where there are none."""
    return parse_signature(inputs) if inputs else NO_INPUTS
