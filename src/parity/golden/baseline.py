"""The latency ratio that a golden holds for a class of machine."""

from __future__ import annotations

from parity.gates.latency import Baseline
from parity.golden.record import Golden


def latency_baseline(golden: Golden | None, target: str, batch: int, here: str) -> tuple[Baseline | None, str]:
    """The golden's ratio for the class of machine `here`, or None and the reason why there is none."""
    if golden is None:
        return None, "no golden was given, so there is no baseline"
    found = golden.latency.get(here, {}).get(target, {}).get(str(batch))
    baseline = Baseline(found.ratio, found.low, found.high) if found else None
    return baseline, f"no baseline at batch {batch} for this class of machine ({here})"
