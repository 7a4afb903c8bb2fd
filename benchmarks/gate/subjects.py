"""What the latency gate is tried on: the exports of `examples/digits`, and a process that loads a core."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from parity.cache import ArtifactCache
from parity.models.registry import known_models
from parity.settings import find_settings
from parity.targets import parse_target
from parity.workbench import Workbench
from parity.workers.process import Children
from parity.workers.timed import TimeTask

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("trace@torchscript", "onnx@onnxruntime", "onnx-int8-static@onnxruntime")
BATCH = 8

_SPIN = "while True: pass"


@dataclass(frozen=True)
class Subjects:
    """Eager and each target, ready to be timed; `logs` is a folder for what they print."""

    children: Children
    eager: TimeTask
    targets: dict[str, TimeTask]
    logs: Path

    def slowed(self, slowdown: float) -> dict[str, TimeTask]:
        """The targets, each call of which takes so much longer within what is timed."""
        return {name: replace(task, slowdown=slowdown) for name, task in self.targets.items()}


@contextlib.contextmanager
def subjects() -> Iterator[Subjects]:
    """Export the targets once."""
    settings = find_settings(ROOT)
    spec = known_models(settings)["digits"]
    with tempfile.TemporaryDirectory(prefix="parity-gate-") as name, Children() as children:
        folder = Path(name)
        bench = Workbench(
            spec=spec,
            folder=folder,
            artifacts=folder / "artifacts",
            cache=ArtifactCache(folder / "cache"),
            children=children,
            timeouts=settings.timeouts,
            batch_sizes=(BATCH,),
        )
        bench.loaded()
        eager = TimeTask(spec, bench.samples, threads=1)
        targets = {}
        for target in map(parse_target, TARGETS):
            artifact = bench.exported(target.exporter).artifact
            if artifact is None:
                raise RuntimeError(f"{target.name} was not exported")
            targets[target.name] = replace(eager, artifact=artifact, runtime=target.runtime)
        yield Subjects(children, eager, targets, folder / "logs")


@contextlib.contextmanager
def loaded_core(*, on: bool) -> Iterator[None]:
    """Another process that keeps one core busy while the block lasts."""
    if not on:
        yield
        return
    other = subprocess.Popen([sys.executable, "-c", _SPIN])  # this interpreter, with a constant
    try:
        yield
    finally:
        other.kill()
        other.wait()
