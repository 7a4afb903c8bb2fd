"""The inputs that an artifact asks for, matched with the model's."""

from __future__ import annotations

from collections.abc import Sequence

from parity.errors import ParityError
from parity.models.matching import Matching, doubt, match_ports, told
from parity.models.ports import Port, same_kind
from parity.runtimes.base import SessionOptions


def match_inputs(own: Sequence[Port], options: SessionOptions) -> Matching:
    """Match the inputs of an artifact with the model's.

    An exporter may leave out an input that the graph never reads.

    Raises:
        ParityError: the artifact asks for an input that is none of the model's, or for numbers of another kind.
    """
    wanted = options.input_ports
    matching = match_ports(own, wanted)
    unknown = [port for port in matching.extra if not port.optional]
    if unknown:
        absent = f", and has none for {', '.join(matching.missing)}" if matching.missing else ""
        raise ParityError(
            f"the artifact's inputs do not match the model's: it asks for {', '.join(map(str, unknown))}{absent}",
            allowed=", ".join(map(str, wanted)),
            got=", ".join(map(str, own)),
            hint="export it with the model's input names, or give the signature the artifact's",
        )
    ours, theirs = {port.name: port for port in own}, {port.name: port for port in wanted}
    for pair in matching.pairs:
        if not same_kind(ours[pair.own], theirs[pair.name]):
            raise ParityError(
                f"the artifact's input {pair.own} has another dtype than the model's",
                allowed=str(theirs[pair.name]),
                got=str(ours[pair.own]),
                hint="export it again from inputs of the model's dtype",
            )
    return matching


def input_facts(matching: Matching) -> dict[str, str]:
    """What the report says of a match of inputs: how it was found, and what was left out on either side."""
    absent = f"the artifact has no {', '.join(matching.missing)}" if matching.missing else None
    left = ", ".join(port.name for port in matching.extra)
    said = [told(matching), absent, f"left at its default: {left}" if left else None]
    text = "; ".join(part for part in said if part)
    return {"inputs": text} if text else {}


def input_doubts(matching: Matching) -> dict[str, str]:
    """The doubt about a match of inputs: what their order alone tells apart, and what the artifact never gets."""
    never = f"the artifact has no input for {', '.join(map(repr, matching.missing))}" if matching.missing else None
    text = "; ".join(part for part in (doubt(matching, "inputs"), never) if part)
    return {"inputs": text} if text else {}


def output_doubts(matching: Matching) -> dict[str, str]:
    """The doubt about a match of outputs. One that is missing is compared, and needs no doubt."""
    text = doubt(matching, "outputs")
    return {"outputs": text} if text else {}
