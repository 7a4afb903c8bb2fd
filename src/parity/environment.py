"""What a measurement depends on besides the model: versions, processor, threads."""

from __future__ import annotations

import datetime as dt
import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from parity.registry import Availability

DEVICES = ("cpu", "cuda")

PACKAGES = ("torch", "torchvision", "numpy", "onnx", "onnxscript", "onnxruntime", "onnxruntime-gpu")


def today() -> dt.date:
    """The day that waivers are held against, in UTC, so that every machine of a team agrees on it."""
    return dt.datetime.now(dt.timezone.utc).date()


def versions() -> dict[str, str]:
    """Versions of the installed packages that make or run artifacts; imports none of them."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _accelerator() -> dict[str, str]:
    """The version of numba where this process has loaded it to compare; artifacts do not depend on it."""
    return {"numba": metadata.version("numba")} if "numba" in sys.modules else {}


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


def environment(threads: int, device: str = "cpu") -> dict[str, Any]:
    """What the report says of where it was made."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "processor": processor(),
        "cores": cores(),
        "threads": threads,
        "device": device,
        "machine_class": machine_class(threads, device),
        "versions": versions() | _accelerator(),
        "argv": " ".join(sys.argv[1:]),
    }
