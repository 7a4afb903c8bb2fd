"""What the machine has done so far, read where Linux tells it; two such snapshots say what it did between them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from parity.environment.control_groups import control_groups

_T = TypeVar("_T")
_W = TypeVar("_W", str, Path)

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
"""The kernel's unit of processor time, a second's part. A system without `sysconf` has no /proc either."""

FREQUENCY_SECONDS = 0.001
"""How long reading clocks may take. Kernels 4.13 to 5.17 measure that of an idle x86 processor by sleeping for 10 ms
(`arch_freq_get_on_cpu`), each one in turn, so that a large machine would take a second: the rest is left out."""


@dataclass(frozen=True, kw_only=True)
class ProcessorTime:
    """What one processor did since the machine started, in seconds.

    `busy` holds the time of guests and of interrupts, `idle` that of waiting for disks; `steal` is what a hypervisor
    gave to others while there was something to do.
    """

    busy: float
    idle: float
    steal: float


@dataclass(frozen=True, kw_only=True)
class MachineState:
    """One moment of the machine; whatever the system does not tell is None.

    `time` is the monotonic clock's, in seconds. `usable` are the processors that this process may use, by number (all
    of `processors` where the two are numbered differently, as some containers have it); clocks, in MHz, governors and
    `thermal_events` are of those only. The events count how often heat slowed a processor or its package down.
    `quota_periods` and `quota_seconds` are what control groups held back for their quota: in how many periods, and for
    how long, summed over processors.
    """

    time: float
    processors: Mapping[int, ProcessorTime] | None = None
    usable: frozenset[int] | None = None
    load: tuple[float, float, float] | None = None
    frequencies_mhz: Mapping[int, float] | None = None
    governors: tuple[str, ...] | None = None
    thermal_events: Mapping[int, int] | None = None
    quota_periods: int | None = None
    quota_seconds: float | None = None


def read_state(root: Path = Path("/")) -> MachineState:
    """What the system tells now. It never raises, and costs half a millisecond on a machine with few processors.

    Args:
        root: The file system, for a test.
    """
    now = time.monotonic()
    processors = _told(_processors, root)
    usable = None if processors is None else _usable(root, frozenset(processors))
    each = sorted(usable or ())
    held = _told(_held_back, root)
    return MachineState(
        time=now,
        processors=processors,
        usable=usable,
        load=_told(_load, root),
        frequencies_mhz=_frequencies(root, each) or _told(_nominal_frequencies, root) or None,
        governors=_governors(root, each) or None,
        thermal_events=_thermal_events(root, each) or None,
        quota_periods=None if held is None else held[0],
        quota_seconds=None if held is None else held[1],
    )


def cpu_seconds(pids: Iterable[int], root: Path = Path("/")) -> float:
    """Processor time, in seconds, that processes have used with all their threads, in steps of 10 ms.

    It holds that of children which they have waited for: of processes that come and go, name those that start them as
    well (this one, a forkserver), and none of their time is lost. One that is gone counts 0, and so does every
    process where the system has no /proc.

    Args:
        pids: Numbers of the processes.
        root: The file system, for a test.
    """
    return sum(_told(_used, root / "proc" / str(pid)) or 0.0 for pid in pids)


def _told(read: Callable[[_W], _T], where: _W) -> _T | None:
    """What can be read; None where the file is missing, masked or written otherwise."""
    try:
        return read(where)
    except (OSError, ValueError, LookupError):
        return None


def _processors(root: Path) -> dict[int, ProcessorTime] | None:
    """From /proc/stat: user, nice, system, idle, iowait, irq, softirq and steal; user holds guest, and nice its own."""
    found: dict[int, ProcessorTime] = {}
    for line in (root / "proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if not name.startswith("cpu"):
            break
        if name == "cpu":
            continue
        user, nice, system, idle, waiting, irq, soft, steal = (int(field) / _TICKS for field in fields[:8])
        found[int(name[3:])] = ProcessorTime(busy=user + nice + system + irq + soft, idle=idle + waiting, steal=steal)
    return found or None


def _usable(root: Path, told: frozenset[int]) -> frozenset[int]:
    allowed = _told(_allowed, root)
    return allowed if allowed and allowed <= told else told


def _allowed(root: Path) -> frozenset[int]:
    for line in (root / "proc/self/status").read_text().splitlines():
        if line.startswith("Cpus_allowed_list:"):
            spans = [span.split("-") for span in line.partition(":")[2].strip().split(",")]
            return frozenset(number for span in spans for number in range(int(span[0]), int(span[-1]) + 1))
    return frozenset()


def _load(root: Path) -> tuple[float, float, float]:
    one, five, fifteen = (root / "proc/loadavg").read_text().split()[:3]
    return float(one), float(five), float(fifteen)


def _line(file: str) -> str:
    """The text of a small file; a large machine has hundreds of these, and pathlib takes three times as long."""
    handle = os.open(file, os.O_RDONLY)
    try:
        return os.read(handle, 100).decode().strip()
    finally:
        os.close(handle)


def _number(file: str) -> int:
    return int(_line(file))


def _folder(root: Path, processor: int) -> str:
    return f"{root}/sys/devices/system/cpu/cpu{processor}"


def _frequencies(root: Path, processors: Iterable[int]) -> dict[int, float]:
    found: dict[int, float] = {}
    end = time.monotonic() + FREQUENCY_SECONDS
    for processor in processors:
        khz = _told(_number, f"{_folder(root, processor)}/cpufreq/scaling_cur_freq")
        if khz is None:
            break
        found[processor] = khz / 1000
        if time.monotonic() > end:
            break
    return found


def _nominal_frequencies(root: Path) -> dict[int, float]:
    """From /proc/cpuinfo; many virtual machines have no other clock than the one written there."""
    found: dict[int, float] = {}
    processor = -1
    for line in (root / "proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "processor":
            processor = int(value)
        elif name.strip() == "cpu MHz":
            found[processor] = float(value)
    return found


def _governors(root: Path, processors: Iterable[int]) -> tuple[str, ...]:
    files = (f"{_folder(root, processor)}/cpufreq/scaling_governor" for processor in processors)
    return tuple(sorted({text for file in files if (text := _told(_line, file))}))


def _thermal_events(root: Path, processors: Iterable[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for processor in processors:
        folder = f"{_folder(root, processor)}/thermal_throttle"
        counts = [_told(_number, f"{folder}/{what}_throttle_count") for what in ("core", "package")]
        if counts == [None, None]:
            break
        found[processor] = sum(count or 0 for count in counts)
    return found


def _held_back(root: Path) -> tuple[int, float] | None:
    """Periods and seconds, over all groups that tell; the older kind of group counts nanoseconds."""
    groups = {folder for folder, _ in control_groups(root)}
    counts = [count for folder in groups if (count := _told(_throttled, folder)) is not None]
    return (sum(periods for periods, _ in counts), sum(seconds for _, seconds in counts)) if counts else None


def _throttled(folder: Path) -> tuple[int, float]:
    fields = dict(line.split() for line in (folder / "cpu.stat").read_text().splitlines())
    if "throttled_usec" in fields:
        return int(fields["nr_throttled"]), int(fields["throttled_usec"]) / 1e6
    return int(fields["nr_throttled"]), int(fields["throttled_time"]) / 1e9


def _used(folder: Path) -> float:
    """From /proc/PID/stat, whose second field is a name that may hold spaces and brackets."""
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / _TICKS
