"""Combinations of versions, processors and settings that are known to go wrong, each said with what to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from parity.environment.machine import cores, quota
from parity.environment.packages import OTHERS, PACKAGES, fits, recorded_versions, requirements_of

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""What libraries read their number of threads from, where nobody tells them."""

LIMIT_VARIABLES = ("OMP_THREAD_LIMIT",)
"""What bounds it, whatever they are told."""

_ENOUGH = 0.95
"""Share of its threads that a bound has to leave: 1.9 of 2 processors slow nothing down that a clock could show."""


@dataclass(frozen=True)
class Surroundings:
    """What a run finds around itself.

    Attributes:
        threads: Intra-op threads that every target is given.
        versions: Installed versions by package.
        needs_torch: The versions of torch that other packages ask for, by package.
        variables: Environment variables.
        cores: How many processors this process may use.
        quota: How many a control group leaves it, or None.
        torch_reads_numpy: Whether torch takes NumPy's arrays; None where nobody has tried.
    """

    threads: int
    versions: Mapping[str, str] = field(default_factory=dict)
    needs_torch: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    cores: int = 1
    quota: float | None = None
    torch_reads_numpy: bool | None = None


def conflicts_here(threads: int | None = None) -> tuple[str, ...]:
    """The conflicts of this machine; those of threads where their number is known."""
    found = Surroundings(
        threads=threads or 1,
        versions=recorded_versions(),
        needs_torch=requirements_of((*PACKAGES, *OTHERS), "torch"),
        variables={name: os.environ[name] for name in (*THREAD_VARIABLES, *LIMIT_VARIABLES) if name in os.environ},
        cores=cores(),
        quota=quota(),
        torch_reads_numpy=_torch_reads_numpy(),
    )
    return (*package_conflicts(found), *(thread_conflicts(found) if threads is not None else ()))


def package_conflicts(found: Surroundings) -> tuple[str, ...]:
    """What is wrong with the installed packages, in the order of how much it breaks."""
    return (*_out_of_step(found), *_two_runtimes(found), *_numpy(found))


def thread_conflicts(found: Surroundings) -> tuple[str, ...]:
    """What keeps targets from having the threads that they are given."""
    return (*_too_few(found), *_variables(found))


def _out_of_step(found: Surroundings) -> list[str]:
    torch = found.versions.get("torch")
    return [
        f"{package} {found.versions.get(package, '')} asks for torch {wanted}, and torch {torch} is installed: its "
        f"operators may be missing or crash: pip install -U torch {package}"
        for package, wanted in found.needs_torch.items()
        if torch and not fits(torch, wanted)
    ]


def _two_runtimes(found: Surroundings) -> list[str]:
    several = [name for name in found.versions if name == "onnxruntime" or name.startswith("onnxruntime-")]
    text = (
        f"{' and '.join(several)} are installed together and own the same files, so that which one is used is chance: "
        f"pip uninstall {' '.join(several)}, and install the one that you serve with"
    )
    return [text] if len(several) > 1 else []


def _numpy(found: Surroundings) -> list[str]:
    text = (
        f"torch {found.versions.get('torch', '')} was built for another NumPy than {found.versions.get('numpy', '')} "
        'and cannot read its arrays: pip install "numpy<2", or a newer torch'
    )
    return [text] if found.torch_reads_numpy is False else []


def _too_few(found: Surroundings) -> list[str]:
    if found.quota is not None and found.quota < found.threads * _ENOUGH:
        who, left = "a control group leaves this process", found.quota
    elif found.cores < found.threads:
        who, left = "this process may use", float(found.cores)
    else:
        return []
    waiting = f"{who} {left:g} processors for {found.threads} threads, so that they wait for each other"
    return [f"{waiting} and latencies jump: --threads {max(int(left), 1)}"]


def _variables(found: Surroundings) -> list[str]:
    """More threads than are asked for do no harm: every runtime is told how many it may have."""
    low = {name: value for name, value in found.variables.items() if _number(value) < found.threads}
    return [
        f"{name}={value} bounds what --threads {found.threads} asks for: unset {name}"
        if name in LIMIT_VARIABLES
        else f"{name}={value} is set, and --threads {found.threads} is asked for: a runtime has what it is told, and a "
        f"library that nobody tells has {value}: unset {name}, or --threads {value}"
        for name, value in low.items()
    ]


def _number(value: str) -> float:
    """The threads of a variable, of which the first counts; infinite where it is no number."""
    first = value.partition(",")[0].strip()
    return int(first) if first.isdigit() else float("inf")


def _torch_reads_numpy() -> bool | None:
    """Tried only where torch is there already: a report has loaded it by then."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "from_numpy"):
        return None
    import numpy as np  # noqa: PLC0415  # only beside torch

    try:
        torch.from_numpy(np.zeros(1, np.float32))
    except (RuntimeError, TypeError):
        return False
    return True
