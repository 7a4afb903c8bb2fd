"""What a measurement depends on besides the model: versions, processor, threads, and what of it goes wrong."""

from parity.environment.conflicts import conflicts_here
from parity.environment.machine import DEVICES, cores, cuda, machine_class, processor, today
from parity.environment.packages import versions
from parity.environment.recorded import environment

__all__ = [
    "DEVICES",
    "conflicts_here",
    "cores",
    "cuda",
    "environment",
    "machine_class",
    "processor",
    "today",
    "versions",
]
