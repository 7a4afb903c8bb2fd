"""The machine: its processor and what that can do, how many of it there are, and the day."""

from __future__ import annotations

import datetime as dt
import os
import platform
from pathlib import Path

from parity.environment.control_groups import control_groups
from parity.registry import Availability

DEVICES = ("cpu", "cuda")


def today() -> dt.date:
    """The day that waivers are held against, in UTC, so that every machine of a team agrees on it."""
    return dt.datetime.now(dt.timezone.utc).date()


def cuda() -> Availability:
    """Whether torch can use a GPU here; imports torch."""
    import torch  # noqa: PLC0415  # only when somebody asks

    if torch.version.cuda is None:
        return Availability(reason="torch is built without CUDA")
    if not torch.cuda.is_available():
        return Availability(reason=f"torch is built for CUDA {torch.version.cuda} and finds no GPU")
    return Availability(version=f"CUDA {torch.version.cuda}, {torch.cuda.get_device_name()}")


def processor() -> str:
    """The processor's name as its system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


FEATURES = (
    "avx", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile",
    "amx_int8", "amx_bf16", "asimd", "asimddp", "i8mm", "bf16", "sve", "sve2", "fphp",
)  # fmt: skip
"""What kernels choose themselves by, as Linux calls it: on x86, and from `asimd` (NEON) on on ARM."""


def features() -> tuple[str, ...]:
    """Those of `FEATURES` that the processor has; empty where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ()
    has = {flag for line in lines if line.startswith(("flags", "Features")) for flag in line.partition(":")[2].split()}
    return tuple(feature for feature in FEATURES if feature in has)


def quota(root: Path = Path("/")) -> float | None:
    """How many processors a control group lets this process use, or None where it sets no bound.

    A container is often given a share of a machine whose processors it all sees.

    Args:
        root: The file system, for a test.
    """
    found = (_share(folder, version) for folder, version in control_groups(root))
    return min((share for share in found if share is not None), default=None)


def _share(folder: Path, version: int) -> float | None:
    """The bound of one group; None where it has no such file, or `max`."""
    try:
        if version == 2:  # noqa: PLR2004  # the name of that kind of control group
            allowed, period = (folder / "cpu.max").read_text().split()
        else:
            allowed, period = (folder / "cpu.cfs_quota_us").read_text(), (folder / "cpu.cfs_period_us").read_text()
        return int(allowed) / int(period) if int(allowed) > 0 and int(period) > 0 else None
    except (OSError, ValueError):
        return None


def cores() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def machine_class(threads: int, device: str = "cpu") -> str:
    """Machines on which latency ratios can be compared: same processor, cores, threads, system and device."""
    here = f"{platform.system()} {platform.machine()}, {processor()}, {cores()} cores, {threads} threads"
    return here if device == "cpu" else f"{here}, {cuda()}"
