"""What a measurement depends on besides the model: versions, processor, threads, and what of it goes wrong."""

from parity.environment.conflicts import conflicts_here
from parity.environment.disturbance import changes, noise
from parity.environment.machine import DEVICES, cores, cuda, machine_class, processor, today
from parity.environment.packages import versions
from parity.environment.recorded import environment
from parity.environment.state import MachineState, cpu_seconds, read_state

__all__ = [
    "DEVICES",
    "MachineState",
    "changes",
    "conflicts_here",
    "cores",
    "cpu_seconds",
    "cuda",
    "environment",
    "machine_class",
    "noise",
    "processor",
    "read_state",
    "today",
    "versions",
]
