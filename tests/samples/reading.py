"""What is read from a source, as plain lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parity.models.signature import Signature
from parity.samples.rows import GatheredLabels
from parity.samples.sources import read_samples


def read(source: str, signature: Signature, root: Path, preprocess: str | None = None) -> tuple[Any, Any]:
    """Every sample (the array itself where there is one input), and the labels or None."""
    samples, labels = read_samples(source, signature, root, preprocess)
    found = [{name: array.tolist() for name, array in sample.items()} for sample in samples]
    whole = labels.whole() if isinstance(labels, GatheredLabels) else labels
    alone = len(signature.inputs) == 1
    return (
        [next(iter(each.values())) for each in found] if alone else found,
        None if whole is None else whole.tolist(),
    )
