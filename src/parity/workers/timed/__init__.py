"""The time stage: sessions that stay open in processes of their own and are asked for bursts."""

from parity.workers.timed.child import TimingFailedError
from parity.workers.timed.serving import TimeTask
from parity.workers.timed.sittings import Timing, time_targets
from parity.workers.timed.timings import REFERENCE, Cell, Start, Timings

__all__ = ["REFERENCE", "Cell", "Start", "TimeTask", "Timing", "TimingFailedError", "Timings", "time_targets"]
