"""The worst samples of a target that did not pass, kept with their inputs: what a reproducer starts from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from parity.arrays import Array, ArrayReader
from parity.cells import Cell, Reference
from parity.records import OutputFacts, Record, Verdict
from parity.samples.calls import Call, held_out_calls
from parity.samples.store import StoredSamples

KEPT = 3
"""Files a target: the worst sample of each output that did not pass, until there are as many."""


def keep_worst(
    record: Record, cell: Cell, reference: Reference, stored: StoredSamples, folder: Path
) -> tuple[str, ...]:
    """Write `sample-<number>.npz` for each worst sample, and return the paths.

    A file holds `input.<name>`, and by output `eager.<name>`, `oracle.<name>` and `target.<name>`, each of the
    one sample without the batch axis. An output that has no batch axis is that of the sample's whole call.
    """
    open_ = [result for result in record.numeric if result.verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE)]
    samples = dict.fromkeys(result.worst_sample for result in open_ if result.worst_sample is not None)
    held_out = held_out_calls(cell.calls)
    readers = {"eager": reference.arrays.eager, "oracle": reference.arrays.oracle, "target": cell.outputs}
    # What was returned, and not the order in which sets are compared.
    sources = {name: reader.plain() for name, reader in readers.items()}
    paths: list[str] = []
    for sample in list(samples)[:KEPT]:
        call = next((each for each in held_out if sample in each.judged), None)
        if call is None:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"sample-{sample}.npz"
        held = {f"input.{name}": array for name, array in stored[sample].items()}
        held |= dict(_outputs(call, sample, sources, reference.facts.outputs))
        np.savez(path, **held)  # type: ignore[arg-type]  # keywords are arrays
        paths.append(str(path))
    return tuple(paths)


def _outputs(
    call: Call, sample: int, sources: Mapping[str, ArrayReader], outputs: Sequence[OutputFacts]
) -> Iterator[tuple[str, Array]]:
    batched = {output.name: output.batched for output in outputs}
    place = call.samples.index(sample)
    for source, reader in sources.items():
        for name, array in reader.get_all(call.id).items():
            rows = batched.get(name, False) and array.ndim > 0 and len(array) == len(call.judged)
            yield f"{source}.{name}", _without_metadata(array[place] if rows else array)


def _without_metadata(array: Array) -> Array:
    """NumPy's files hold no metadata of a dtype, and it warns of losing them."""
    return np.asarray(array).view(np.dtype(array.dtype.str)) if array.dtype.metadata else array
