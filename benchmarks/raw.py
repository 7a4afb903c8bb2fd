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
from pathlib import Path

import numpy as np

START = time.perf_counter()


def main() -> None:
    """Export and run the digits example; times count from the start of this script, imports included."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        exported, done = _measure(Path(folder))
    json.dump({"exports": exported - START, "inference": done - exported}, sys.stdout)


def _measure(folder: Path) -> tuple[float, float]:
    import torch  # noqa: PLC0415  # counted

    from parity.artifacts import Artifact, Manifest, describe_files  # noqa: PLC0415
    from parity.exporters import EXPORTERS, ExportJob  # noqa: PLC0415
    from parity.models.build import build  # noqa: PLC0415
    from parity.models.find import find_model  # noqa: PLC0415
    from parity.runtimes import RUNTIMES, SessionOptions  # noqa: PLC0415
    from parity.samples.calls import BATCH_SIZES, plan_calls  # noqa: PLC0415
    from parity.settings import find_settings  # noqa: PLC0415

    torch.set_num_threads(1)
    spec = find_model("examples/digits/model.pt", find_settings()).spec
    module = build(spec).module.requires_grad_(requires_grad=False)
    held_out = np.load("examples/digits/heldout.npz")["image"]
    calibration = torch.from_numpy(np.load("examples/digits/calibration.npz")["image"])
    made: dict[str, Artifact] = {}
    for name in EXPORTERS:
        exporter, target = EXPORTERS.get(name), folder / name
        target.mkdir()
        job = ExportJob(
            module=module, example=(torch.from_numpy(held_out[:2]),), signature=spec.signature, outputs=("output",),
            calibration=lambda: ((batch,) for batch in calibration.split(8)), folder=target,
            source=made.get(exporter.source or ""),
        )  # fmt: skip
        entry = exporter.export(job).entry
        files = describe_files(target)
        made[name] = Artifact(target, Manifest(name, exporter.format, exporter.precision, entry, files=files))
    exported = time.perf_counter()
    calls = plan_calls([0] * len(held_out), BATCH_SIZES, spec.signature.batch_dim)
    for name, artifact in made.items():
        session = RUNTIMES.get(EXPORTERS.get(name).runtime).open(artifact, SessionOptions(1, spec.signature.names))
        for call in calls:
            session.run({"image": held_out[list(call.samples)]})
    return exported, time.perf_counter()


if __name__ == "__main__":
    main()
