"""What a reader should know of the reference, in words, from its own outputs."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from parity.arrays import Array
from parity.compare.decisions.labels import label_remarks
from parity.compare.floor import Yardstick


def remarks(yardsticks: Mapping[str, Yardstick], mixed: Collection[str], labels: Array | None) -> tuple[str, ...]:
    """Notes on outputs that have lost half of their digits or mix the samples of a batch, and on labels of none."""
    ill = (
        f"ill-conditioned: eager itself is good to {yardstick.good_to:.2g} in {name!r}"
        for name, yardstick in yardsticks.items()
        if yardstick.good_to is not None
    )
    mixing = (
        f"the model mixes the samples of a batch: {name!r} of a sample depends on the others, "
        "so that no target is held to batch invariance"
        for name in mixed
    )
    return (*ill, *mixing, *label_remarks([each.output for each in yardsticks.values()], labels))
