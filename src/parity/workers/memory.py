"""Highest resident memory of this process, as far as its system tells."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path


def peak_bytes() -> int | None:
    """Highest resident memory since the process started, or since `reset_peak`; None where nothing tells."""
    status = Path("/proc/self/status")
    with contextlib.suppress(OSError, ValueError, StopIteration):
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    with contextlib.suppress(ImportError, OSError):
        import resource  # noqa: PLC0415  # not on every system

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return None


def reset_peak() -> int | None:
    """Let the peak count from here on, where the system can, and return what it is now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here on
    return peak_bytes()
