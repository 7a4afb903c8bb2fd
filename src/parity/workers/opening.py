"""Opening an artifact where it is run or timed."""

from __future__ import annotations

from collections.abc import Sequence

from parity.artifacts import Artifact
from parity.models.build import build
from parity.models.factories import import_code
from parity.models.ports import output_ports, signature_ports
from parity.models.spec import ModelSpec
from parity.records import OutputFacts
from parity.runtimes import RUNTIMES, Session, SessionOptions


def open_session(
    spec: ModelSpec,
    artifact: Artifact,
    runtime: str,
    *,
    threads: int,
    device: str,
    outputs: Sequence[OutputFacts] = (),
) -> Session:
    """Open an artifact at a runtime.

    An artifact may call operators that the model's code registers when it is imported (torchvision's, a
    custom one): where opening it alone fails, it is tried once more after importing that code. Whatever
    serves the artifact has to do the same.

    Raises:
        Exception: whatever the runtime raises, also once the model's code is there.
    """
    options = SessionOptions(
        threads=threads,
        names=spec.signature.names,
        device=device,
        inputs=signature_ports(spec.signature),
        outputs=output_ports(outputs),
        module=lambda: build(spec).module,
    )
    chosen = RUNTIMES.get(runtime)
    try:
        return chosen.open(artifact, options)
    except RuntimeError:
        import_code(spec.factory, spec.root)
        return chosen.open(artifact, options)
