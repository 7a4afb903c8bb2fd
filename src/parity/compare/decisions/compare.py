"""Every output's decisions, by the kind that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from parity.arrays import Array, ArrayReader
from parity.compare.decisions.binary import compare_binary
from parity.compare.decisions.classes import compare_classes
from parity.compare.decisions.detection import compare_detection
from parity.compare.decisions.embedding import compare_embedding
from parity.compare.decisions.segmentation import compare_segmentation
from parity.compare.decisions.tokens import compare_tokens
from parity.compare.decisions.view import Pair, View
from parity.compare.exact import unequal_places
from parity.compare.floor import ReferenceArrays, Yardstick
from parity.records import DecisionFinding
from parity.samples.calls import Call, held_out_calls

_KINDS: Mapping[str, Callable[[View], list[DecisionFinding]]] = {
    "classes": compare_classes,
    "binary": compare_binary,
    "segmentation": compare_segmentation,
    "tokens": compare_tokens,
    "embedding": compare_embedding,
}


def compare_decisions(
    target: ArrayReader,
    arrays: ReferenceArrays,
    yardsticks: Mapping[str, Yardstick],
    calls: Sequence[Call],
    labels: Array | None,
) -> tuple[DecisionFinding, ...]:
    """The metrics of every output that stands for a decision, over the held-out calls.

    Args:
        target: What the target returned.
        arrays: What the reference returned.
        yardsticks: Of every output, with the kind of decision that it stands for.
        calls: The calls; those of the sweep are passed over.
        labels: Labels of the held-out samples, int64[n, ...], or None.
    """
    held_out = held_out_calls(calls)
    found: list[DecisionFinding] = []
    for name, yardstick in yardsticks.items():
        compare = _KINDS.get(yardstick.output.decision or "none")
        if compare is None or yardstick.constant:
            continue
        pairs = tuple(_pairs(target, arrays, name, yardsticks, held_out))
        found += compare(View(yardstick, pairs, labels))
    return (*found, *compare_detection(target, arrays, yardsticks, held_out))


def _pairs(
    target: ArrayReader, arrays: ReferenceArrays, name: str, yardsticks: Mapping[str, Yardstick], calls: Sequence[Call]
) -> list[Pair]:
    found: list[Pair] = []
    for call in calls:
        key = f"{call.id}/{name}"
        if key in target and key in arrays.eager:
            ours, theirs = arrays.eager.get(key), target.get(key)
            if ours.shape == theirs.shape and ours.size:
                # Scores have a margin to tell ties by.
                exact = yardsticks[name].rule == "exact" and bool((ours != theirs).any())
                tied = unequal_places(target, arrays, name, yardsticks, call).tied if exact else None
                found.append(Pair(call, ours, theirs, tied))
    return found
