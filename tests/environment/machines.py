"""A machine that tells everything, as files; and a process on the real one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

LINUX = pytest.mark.skipif(not Path("/proc/stat").exists(), reason="this system has no /proc")


class Machine:
    """A file system as Linux shows its own, of a machine with two processors that tells everything."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("proc/self/status", "Name:\tpython\nCpus_allowed_list:\t0-1\n")
        self.write("proc/self/cgroup", "0::/pod\n")
        self.write("proc/loadavg", "0.50 0.40 0.30 1/200 4242\n")
        self.processors({}, {})
        for processor in (0, 1):
            self.write(f"{self.of(processor)}/cpufreq/scaling_cur_freq", "3000000\n")
            self.write(f"{self.of(processor)}/cpufreq/scaling_governor", "schedutil\n")
            self.heat(processor, core=0, package=0)
        self.held_back(periods=0, usec=0)

    @staticmethod
    def of(processor: int) -> str:
        return f"sys/devices/system/cpu/cpu{processor}"

    def write(self, file: str, text: str) -> None:
        (self.root / file).parent.mkdir(parents=True, exist_ok=True)
        (self.root / file).write_text(text)

    def processors(self, *each: dict[str, float]) -> None:
        """Seconds of each processor by the column's name."""
        columns = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
        lines = [" ".join(str(round(spent.get(column, 0) * 100)) for column in columns) for spent in each]
        numbered = "".join(f"cpu{number} {line}\n" for number, line in enumerate(lines))
        self.write("proc/stat", f"cpu  9 9 9 9 9 9 9 9 0 0\n{numbered}intr 5 0 0\nctxt 7\n")

    def heat(self, processor: int, *, core: int, package: int) -> None:
        self.write(f"{self.of(processor)}/thermal_throttle/core_throttle_count", f"{core}\n")
        self.write(f"{self.of(processor)}/thermal_throttle/package_throttle_count", f"{package}\n")

    def held_back(self, *, periods: int, usec: int) -> None:
        text = f"usage_usec 5\nnr_periods 9\nnr_throttled {periods}\nthrottled_usec {usec}\n"
        self.write("sys/fs/cgroup/pod/cpu.stat", text)

    def clock(self, mhz: float, governor: str, processor: int = 0) -> None:
        self.write(f"{self.of(processor)}/cpufreq/scaling_cur_freq", f"{mhz * 1000:.0f}\n")
        self.write(f"{self.of(processor)}/cpufreq/scaling_governor", f"{governor}\n")


@contextmanager
def child(code: str) -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", f"print(flush=True)\n{code}"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()
