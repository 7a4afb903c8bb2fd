"""The latency ratio that a golden holds for a class of machine."""

from __future__ import annotations

from parity.environment import machine_class
from parity.golden.record import Golden


def latency_baseline(golden: Golden | None, target: str, batch: int, threads: int) -> tuple[float | None, str]:
    """The golden's ratio for this class of machine, or None and the reason why there is none."""
    if golden is None:
        return None, "no golden was given, so there is no baseline"
    here = machine_class(threads)
    found = golden.latency.get(here, {}).get(target, {}).get(str(batch))
    return found.ratio if found else None, f"no baseline at batch {batch} for this class of machine ({here})"
