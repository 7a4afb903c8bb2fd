"""What a runtime is: it opens an artifact, and the session maps named arrays to named arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from parity.arrays import Array
from parity.artifacts import Artifact
from parity.models.ports import Port
from parity.registry import Availability

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class SessionOptions:
    """How a session is opened.

    Attributes:
        threads: Intra-op threads; every target of a run gets the same.
        names: The model's inputs in the order of `forward`.
        device: `cpu`, or `cuda` to ask for a GPU; `Session.facts` says what was really used.
        inputs: The model's inputs in the same order, with what else is known of them; empty where nothing is.
        outputs: The reference's outputs, with what is known of them; empty where nothing is.
        module: Builds the model, in eval mode and taking its inputs by position, for artifacts of the format `module`;
            None where nothing is known of it.
    """

    threads: int
    names: tuple[str, ...]
    device: str = "cpu"
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    module: Callable[[], nn.Module] | None = None

    @property
    def input_ports(self) -> tuple[Port, ...]:
        """The model's inputs, by their names alone where nothing else is known."""
        return self.inputs or tuple(map(Port, self.names))


class Session(Protocol):
    """An opened artifact.

    One that had to tell inputs or outputs apart by their position alone says so in an attribute `doubts`: sentences
    by `inputs` and `outputs`.
    """

    @property
    def facts(self) -> Mapping[str, str]:
        """What the report should say of this session, such as the execution provider in use."""
        ...

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One call: inputs by name to outputs by name. Raises whatever the runtime raises."""
        ...


class Runtime(Protocol):
    """Something that can open artifacts of some formats."""

    @property
    def name(self) -> str:
        """The second half of a target's name."""
        ...

    @property
    def formats(self) -> frozenset[str]:
        """The formats that it reads."""
        ...

    def availability(self) -> Availability:
        """Version, or the reason why it cannot be used here; imports nothing heavy."""
        ...

    def open(self, artifact: Artifact, options: SessionOptions) -> Session:
        """Load an artifact. Raises whatever the runtime raises."""
        ...
