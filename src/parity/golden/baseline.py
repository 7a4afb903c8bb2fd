"""The latency ratio that a golden holds for a class of machine."""

from __future__ import annotations

from parity.environment import machine_class
from parity.gates.latency import Baseline
from parity.golden.record import Golden


def latency_baseline(golden: Golden | None, target: str, batch: int, threads: int) -> tuple[Baseline | None, str]:
    """The golden's ratio for this class of machine, or None and the reason why there is none."""
    if golden is None:
        return None, "no golden was given, so there is no baseline"
    here = machine_class(threads)
    found = golden.latency.get(here, {}).get(target, {}).get(str(batch))
    baseline = Baseline(found.ratio, found.high) if found else None
    return baseline, f"no baseline at batch {batch} for this class of machine ({here})"
