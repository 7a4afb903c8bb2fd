"""What `parity report` does, without parity's processes, comparison, timing and reports: export and run.

One process, one thing after the other: the nine export APIs, then every held-out sample and every batch
size of the sweep through each artifact. Prints one JSON object with seconds.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path

START = time.perf_counter()


def main() -> None:
    """Export and run the digits example; times count from the start of this script, imports included."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        exported, done = _measure(Path(folder))
    json.dump({"exports": exported - START, "inference": done - exported}, sys.stdout)


def _measure(folder: Path) -> tuple[float, float]:
    import torch  # noqa: PLC0415  # counted

    from parity.artifacts import Artifact  # noqa: PLC0415
    from parity.exporters import EXPORTERS  # noqa: PLC0415
    from parity.models.find import find_model  # noqa: PLC0415
    from parity.runtimes import RUNTIMES, SessionOptions  # noqa: PLC0415
    from parity.samples.calls import BATCH_SIZES  # noqa: PLC0415
    from parity.samples.store import StoredSamples  # noqa: PLC0415
    from parity.settings import find_settings  # noqa: PLC0415
    from parity.workers.export import ExportTask, export  # noqa: PLC0415
    from parity.workers.load import HELD_OUT, load  # noqa: PLC0415

    torch.set_num_threads(1)
    spec = find_model("examples/digits/model.pt", find_settings())
    loaded = load(spec, folder / "samples", BATCH_SIZES)
    made: dict[str, Artifact] = {}
    for name in EXPORTERS:
        target = folder / name
        target.mkdir()
        source = made.get(EXPORTERS.get(name).source or "")
        manifest = export(ExportTask(spec, name, folder / "samples", loaded.example, target, source, 1))
        made[name] = Artifact(target, replace(manifest, outputs=()))
    exported = time.perf_counter()
    stored = StoredSamples(folder / "samples" / HELD_OUT, spec.signature)
    for name, artifact in made.items():
        session = RUNTIMES.get(EXPORTERS.get(name).runtime).open(artifact, SessionOptions(1, spec.signature.names))
        for call in loaded.calls:
            session.run(stored.batch(call.samples))
    return exported, time.perf_counter()


if __name__ == "__main__":
    main()
