"""What users act on in an output: what kind of decision it stands for, as it was given or by how it looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from parity.arrays import Array, ArrayReader
from parity.compare.sets import set_groups
from parity.errors import UsageError, did_you_mean
from parity.models.decision import EVERY
from parity.records import OutputFacts, ReferenceFacts
from parity.samples.calls import Call, held_out_calls

EMBEDDING_NAMES = frozenset(
    {
        "embedding", "embeddings", "embeds", "features", "image_embeds", "last_hidden_state", "pooled", "pooler_output",
        "sentence_embedding", "text_embeds", "token_embeddings", "vector", "vectors",
    }
)  # fmt: skip
"""The last part of an output's name, as transformers, sentence-transformers and feature extractors have it."""

_UNIT = 1e-3
"""A row is of unit norm, or sums to one, within this: made so in half precision it is, and by chance it is not."""

_UNIT_ROWS = 3
_CLASS_AXIS: Mapping[str, int] = {"classes": -1, "tokens": -1, "segmentation": 1}
"""The axis over which the scores of one decision lie."""

_LOGITS_RANK, _TOKENS_RANK, _MAPS_RANK = 2, 3, 4


@dataclass(frozen=True)
class _Inferred:
    kind: str
    why: str


def decided(
    facts: ReferenceFacts, reference: ArrayReader, calls: Sequence[Call], given: Sequence[tuple[str, str]] = ()
) -> ReferenceFacts:
    """The facts with the kind of decision of every output.

    Args:
        facts: Of the reference.
        reference: Its outputs.
        calls: The calls that were made.
        given: Kinds by output name, `*` for every output that the kind fits; what is left is inferred.

    Raises:
        UsageError: a kind is given for an output that does not exist, or that it does not fit.
    """
    wanted = dict(given)
    for name in wanted:
        if name != EVERY and name not in {output.name for output in facts.outputs}:
            raise UsageError(
                f"a decision is given for the output {name!r}, which the model does not return",
                hint=did_you_mean(name, (output.name for output in facts.outputs)),
            )
    sets = {name for group in set_groups(facts.outputs) for name in group.members}
    outputs = tuple(_decide(output, reference, calls, wanted, sets) for output in facts.outputs)
    outputs = _beside_probabilities(outputs, reference, held_out_calls(calls)[0])
    # As many boxes as samples is an accident: the first axis of one set is no batch.
    flat = {name for group in set_groups(outputs) if group.flat for name in group.members}
    outputs = tuple(
        replace(each, batched=False) if each.name in flat and each.decision == "detection" else each for each in outputs
    )
    if EVERY in wanted and wanted[EVERY] != "none" and not any(each.decision == wanted[EVERY] for each in outputs):
        shapes = ", ".join(f"{each.name} {each.dtype}{list(each.shape)}" for each in outputs)
        raise UsageError(f"the decision {wanted[EVERY]!r} fits no output", allowed=_FITTING[wanted[EVERY]], got=shapes)
    return replace(facts, outputs=outputs)


def _beside_probabilities(
    outputs: tuple[OutputFacts, ...], reference: ArrayReader, call: Call
) -> tuple[OutputFacts, ...]:
    """Where a model returns probabilities, its other outputs of such shapes are numbers: offsets, landmarks, poses."""
    guessed = [each for each in outputs if each.decision in _CLASS_AXIS and each.decision_from == "shapes"]
    sure = {each.name for each in guessed if _probabilities(each, reference.get(f"{call.id}/{each.name}"))}
    numbers = {each.name for each in guessed if each.dtype.startswith(("float", "bfloat"))} - sure if sure else set()
    return tuple(_as(each, _Inferred("none", "values")) if each.name in numbers else each for each in outputs)


def _probabilities(output: OutputFacts, array: Array) -> bool:
    if not output.dtype.startswith(("float", "bfloat")) or array.ndim != len(output.shape) or not array.size:
        return False
    wide = array.astype(np.float64)
    sums = wide.sum(axis=_CLASS_AXIS[output.decision or ""])
    return bool((wide >= 0).all()) and bool((np.abs(sums - 1) <= _UNIT).all())


def _decide(
    output: OutputFacts, reference: ArrayReader, calls: Sequence[Call], wanted: Mapping[str, str], sets: set[str]
) -> OutputFacts:
    kind = wanted.get(output.name)
    if kind is not None and not fits(kind, output, sets):
        raise UsageError(
            f"the decision {kind!r} does not fit the output {output.name!r}",
            allowed=_FITTING[kind],
            got=f"{output.dtype}{list(output.shape)}" + ("" if output.batched else " without a batch axis"),
        )
    if kind is None and EVERY in wanted and fits(wanted[EVERY], output, sets) and _usual(wanted[EVERY], output):
        kind = wanted[EVERY]
    if kind is not None:
        return _as(output, _Inferred(kind, "given"))
    if output.name in sets:
        return _as(output, _Inferred("detection", "names and shapes"))
    return _as(output, _infer(output, reference, calls))


def _as(output: OutputFacts, found: _Inferred) -> OutputFacts:
    return replace(output, decision=found.kind, decision_from=found.why)


def _usual(kind: str, output: OutputFacts) -> bool:
    """Whether this kind was meant where it was given for whatever it fits: any number has a threshold."""
    shape = output.shape
    return kind != "binary" or len(shape) == 1 or shape[-1] == 1 or (len(shape) >= _MAPS_RANK and shape[1] == 1)


def fits(kind: str, output: OutputFacts, sets: set[str]) -> bool:
    """Whether an output can stand for this kind of decision."""
    rank, last = len(output.shape), output.shape[-1] if output.shape else 0
    if kind in ("none", "detection"):
        return kind == "none" or output.name in sets
    if not output.batched or output.dtype.startswith("complex"):
        return False
    if not output.dtype.startswith(("float", "bfloat")):
        return kind in _CHOSEN and rank >= _CHOSEN[kind] and (rank == _CHOSEN[kind] or kind == "segmentation")
    ranks = {
        "binary": rank >= 1,
        "classes": rank == _LOGITS_RANK and last > 1,
        "tokens": rank == _TOKENS_RANK and last > 1,
        "embedding": rank in (_LOGITS_RANK, _TOKENS_RANK) and last > 1,
        "segmentation": rank >= _MAPS_RANK and output.shape[1] > 1,
    }
    return ranks[kind]


_CHOSEN: Mapping[str, int] = {"classes": 1, "tokens": 2, "segmentation": 3}
"""Rank of an integer output that holds what was chosen already."""

_FITTING: Mapping[str, str] = {
    "classes": "scores [N, C], or a class for each sample, [N]",
    "binary": "one score [N] or [N, 1]; by the output's name, scores [N, ...] that each have a threshold",
    "segmentation": "scores [N, C, H, W], or label maps [N, H, W]",
    "detection": "boxes [K, 4] or [N, K, 4] with scores or labels beside them",
    "embedding": "vectors [N, D] or [N, T, D]",
    "tokens": "scores [N, T, C], or tokens [N, T]",
    "none": "any output",
}


def _infer(output: OutputFacts, reference: ArrayReader, calls: Sequence[Call]) -> _Inferred:
    name = output.name.rpartition(".")[2].lower()
    if name in EMBEDDING_NAMES:
        return _Inferred("embedding" if fits("embedding", output, set()) else "none", "names")
    for kind in ("classes", "tokens", "segmentation"):
        if fits(kind, output, set()):
            if kind == "classes" and _unit_rows(output, reference, calls):
                return _Inferred("embedding", "values")
            return _Inferred(kind, "shapes")
    return _Inferred("none", "shapes")


def _unit_rows(output: OutputFacts, reference: ArrayReader, calls: Sequence[Call]) -> bool:
    """Whether every sample is a vector of unit norm. Probabilities are none: one of them is negative."""
    if len(output.shape) != _LOGITS_RANK:
        return False
    keys = [f"{call.id}/{output.name}" for call in held_out_calls(calls)]
    arrays = [reference.get(key) for key in keys if key in reference]
    if sum(len(array) for array in arrays) < _UNIT_ROWS:
        return False
    norms = np.concatenate([np.linalg.norm(array.astype(np.float64), axis=1) for array in arrays])
    negative = any(bool((array < 0).any()) for array in arrays)  # type: ignore[operator]  # floats
    return negative and bool((np.abs(norms - 1) <= _UNIT).all())
