"""The time stage: sessions that stay open in processes of their own and are asked for bursts."""

from parity.workers.timed.child import TimingFailedError
from parity.workers.timed.serving import TimeTask
from parity.workers.timed.sittings import REFERENCE, Cell, Start, Timing, Timings, time_targets

__all__ = ["REFERENCE", "Cell", "Start", "TimeTask", "Timing", "TimingFailedError", "Timings", "time_targets"]
