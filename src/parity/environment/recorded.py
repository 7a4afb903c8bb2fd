"""What the report says of where it was made."""

from __future__ import annotations

import os
import platform
import re
import sys
from typing import Any

from parity.environment.conflicts import LIMIT_VARIABLES, THREAD_VARIABLES, conflicts_here
from parity.environment.machine import cores, features, machine_class, processor, quota
from parity.environment.packages import recorded_versions

_VARIABLES = (
    *THREAD_VARIABLES, *LIMIT_VARIABLES, "KMP_AFFINITY", "GOMP_CPU_AFFINITY", "ONEDNN_MAX_CPU_ISA",
    "ATEN_CPU_CAPABILITY", "MKL_CBWR", "CUDA_VISIBLE_DEVICES", "NVIDIA_TF32_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG",
)  # fmt: skip
"""Environment variables that change numbers or times."""

_LIBRARIES = {
    "MKL": re.compile(r"Math Kernel Library Version (\S+)"),
    "oneDNN": re.compile(r"(?:MKL-DNN|oneDNN) v(\S+)"),
    "OpenMP": re.compile(r"OpenMP (\d+)"),
    "CUDA": re.compile(r"CUDA Runtime (\S+)"),
    "BLAS": re.compile(r"BLAS_INFO=(\w+)"),
}


def environment(threads: int, device: str = "cpu") -> dict[str, Any]:
    """What the report says of where it was made; what the system does not tell is absent."""
    bound = quota()
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "processor": processor(),
        "features": list(features()),
        "cores": cores(),
        **({} if bound is None else {"quota": bound}),
        "threads": threads,
        "device": device,
        "machine_class": machine_class(threads, device),
        "versions": recorded_versions(),
        "torch": _torch(),
        "variables": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        "warnings": list(conflicts_here(threads)),
        "argv": " ".join(sys.argv[1:]),
    }


def _torch() -> dict[str, Any]:
    """What torch was built with and has chosen here, where it is loaded; a report has loaded it."""
    torch = sys.modules.get("torch")
    if torch is None:
        return {}
    built = torch.__config__.show()
    libraries = {name: found[1] for name, pattern in _LIBRARIES.items() if (found := pattern.search(built))}
    return {
        "capability": torch.backends.cpu.get_cpu_capability(),
        "intra_op_default": torch.get_num_threads(),
        "inter_op": torch.get_num_interop_threads(),
        **({} if torch.version.cuda is None else {"built_for_cuda": torch.version.cuda}),
        "libraries": libraries,
    }
