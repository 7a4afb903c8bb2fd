"""Installed packages: their versions, and the versions of others that they ask for. None of them is imported."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import metadata

PACKAGES = ("torch", "torchvision", "numpy", "onnx", "onnxscript", "onnxruntime", "onnxruntime-gpu")
"""What makes or runs artifacts: cached artifacts and goldens are told apart by their versions."""

OTHERS = (
    "torchaudio", "torchao", "executorch", "openvino", "nncf", "onnxruntime-openvino", "onnxruntime-directml",
    "onnxruntime-training", "onnxruntime-qnn", "timm", "transformers", "tokenizers", "safetensors", "onnx-ir", "scipy",
)  # fmt: skip
"""What the report names besides, where it is installed."""

_NAME = re.compile(r"^([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*\(?([^;()]*)\)?\s*(?:;(.*))?$")
_CLAUSE = re.compile(r"^(~=|==|!=|<=|>=|<|>)\s*([\w.*+!-]+)$")


def versions() -> dict[str, str]:
    """Versions of the installed packages that make or run artifacts."""
    return _installed(PACKAGES)


def recorded_versions() -> dict[str, str]:
    """The same and whatever else the report names; numba where this process has loaded it to compare."""
    return _installed((*PACKAGES, *OTHERS, *(["numba"] if "numba" in sys.modules else [])))


def _installed(names: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def wanted_versions(package: str, of: str) -> str | None:
    """The versions of one package that another one asks for (`>=2.14.0`, `==2.9.1`), or None where it asks for none."""
    try:
        requirements = metadata.requires(package) or []
    except metadata.PackageNotFoundError:
        return None
    for requirement in requirements:
        match = _NAME.match(requirement)
        if match and match[1].lower().replace("_", "-") == of and "extra" not in (match[3] or ""):
            return match[2].replace(" ", "") or None
    return None


def fits(version: str, wanted: str) -> bool:
    """Whether a version is among those that are wanted; what cannot be read is.

    Releases are compared number by number; a local part such as `+cpu` and marks of pre-releases do not count.
    """
    return all(_fits(version, clause.strip()) for clause in wanted.split(",") if clause.strip())


def _fits(version: str, clause: str) -> bool:
    match = _CLAUSE.match(clause)
    if match is None:
        return True
    operator, text = match.groups()
    have, want = _release(version), _release(text)
    if not have or not want:
        return True
    if text.endswith(".*"):
        alike = have[: len(want)] == want
        return alike if operator == "==" else not alike
    if operator == "~=":
        return _padded(have, want) >= 0 and have[: len(want) - 1] == want[:-1]
    sign = _padded(have, want)
    return _SIGNS[operator](sign)


_SIGNS: Mapping[str, Callable[[int], bool]] = {
    "==": lambda sign: sign == 0, "!=": lambda sign: sign != 0, "<=": lambda sign: sign <= 0,
    ">=": lambda sign: sign >= 0, "<": lambda sign: sign < 0, ">": lambda sign: sign > 0,
}  # fmt: skip


def _padded(have: tuple[int, ...], want: tuple[int, ...]) -> int:
    """Negative, zero or positive: how two releases compare, the shorter one filled up with zeros."""
    length = max(len(have), len(want))
    ours, theirs = (each + (0,) * (length - len(each)) for each in (have, want))
    return (ours > theirs) - (ours < theirs)


def _release(version: str) -> tuple[int, ...]:
    match = re.match(r"(?:\d+!)?(\d+(?:\.\d+)*)", version)
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def requirements_of(packages: Iterable[str], of: str) -> Mapping[str, str]:
    """What each of these packages, where it is installed, asks of another one."""
    found = {package: wanted_versions(package, of) for package in packages}
    return {package: wanted for package, wanted in found.items() if wanted}
