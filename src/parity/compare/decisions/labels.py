"""Labels that say nothing of the outputs that they lie beside, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parity.arrays import Array
from parity.compare.decisions.view import Ints
from parity.records import LABELS, OutputFacts

_LABEL_AXES = {"classes": 1, "tokens": 2, "segmentation": 3}
"""Axes of the labels of all samples, by what an output stands for: a class a sample, a position, a pixel. Binary
decisions have labels of their own shape."""

_FEW = 3


def label_remarks(outputs: Sequence[OutputFacts], labels: Array | None) -> tuple[str, ...]:
    """Notes on labels that fit no output, and on those that name classes which an output does not have.

    Both would leave accuracy out of the verdict without a word, or count every answer to them as wrong on both sides.

    Args:
        outputs: The reference's, with what each stands for.
        labels: Labels of the held-out samples, int64[n, ...], or None.
    """
    if labels is None or not labels.size:
        return ()
    decided = [each for each in outputs if each.decision in (*_LABEL_AXES, "binary")]
    fitting = [each for each in decided if labels.ndim in _axes(each)]
    if not fitting:
        known = ", ".join(f"{each.name!r} ({each.decision})" for each in decided) or "none that labels could be of"
        shape = list(labels.shape)
        return (f"{LABELS}int64{shape} fit the decision of no output, so that there is no accuracy: {known}",)
    return tuple(note for each in fitting if (note := _beyond(each, labels)))


def _axes(output: OutputFacts) -> tuple[int, ...]:
    if output.decision == "binary":
        return (len(output.shape), len(output.shape) - (output.shape[-1] == 1))
    return (_LABEL_AXES[output.decision or ""],)


def _classes(output: OutputFacts) -> int | None:
    """How many classes a label may be one of; None where that is not known, or others mean that nobody knows (255)."""
    if output.decision == "binary":
        return 2
    scored = output.decision in ("classes", "tokens") and len(output.shape) == _LABEL_AXES[output.decision] + 1
    return output.shape[-1] if scored else None


def _beyond(output: OutputFacts, given: Array) -> str:
    classes, labels = _classes(output), np.asarray(given, np.int64)
    if classes is None:
        return ""
    unknown = (labels < 0) & (output.decision == "tokens")
    odd: Ints = np.unique(labels[((labels < 0) | (labels >= classes)) & ~unknown])
    if not odd.size:
        return ""
    count = int(np.isin(labels, odd).sum())
    few = ", ".join(map(str, odd[:_FEW].tolist())) + (", ..." if len(odd) > _FEW else "")
    from_one = odd.tolist() == [classes] and not bool((labels == 0).any())
    hint = "; they count from 1, perhaps" if from_one else ""
    return (
        f"{LABELS}{count} of {labels.size} are none of 0..{classes - 1}, the classes of {output.name!r}, so that no "
        f"answer to them is right: {few}{hint}"
    )
