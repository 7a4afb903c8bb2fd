"""Is the artifact we are about to ship the same function as the PyTorch model we evaluated?

Importing this package loads neither torch nor any runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["ParityError", "Report", "Verdict", "__version__", "register", "report"]

if TYPE_CHECKING:
    from parity.api import report
    from parity.errors import ParityError
    from parity.models.registry import register
    from parity.records import Report, Verdict

_HOMES = {
    "ParityError": "parity.errors",
    "Report": "parity.records",
    "Verdict": "parity.records",
    "register": "parity.models.registry",
    "report": "parity.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'parity' has no attribute {name!r}")
    import importlib  # noqa: PLC0415  # only when something public is first used

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
