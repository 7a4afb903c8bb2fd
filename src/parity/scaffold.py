"""What `parity init` writes."""

from __future__ import annotations

from pathlib import Path

from parity.errors import UsageError
from parity.storage import Place, storing

_SETTINGS = """# What parity judges, and how. Every key is described in docs/settings.md.
registry = []                            # files whose @parity.register models are known by name
golden = "golden"

[models.my-model]
factory = "package.module:factory"       # a callable without arguments that returns the nn.Module
weights = "checkpoint.pt"                # leave it out where the factory loads them
input = "image: float32[N, 3, 224, 224]"
samples = "heldout.npz"                  # held-out inputs, one array an input; `labels` beside them if there are any
calibration = "calibration.npz"          # other samples, for static quantization
"""

_SUITE = '''"""Every registered model at every target. Run with `pytest suites/`."""


def test_numerics(parity_case):
    parity_case.check_numerics()


def test_shapes(parity_case):
    parity_case.check_shapes()


def test_latency(parity_case, benchmark):
    parity_case.check_latency(benchmark)


def test_golden(parity_case):
    parity_case.check_golden()
'''


def scaffold(folder: Path) -> list[Path]:
    """Write `parity.toml` and `suites/test_parity.py`; returns their paths.

    Raises:
        UsageError: one of them exists already; nothing is written then.
        StorageError: the folder is full or cannot be written to.
    """
    files = {folder / "parity.toml": _SETTINGS, folder / "suites" / "test_parity.py": _SUITE}
    for path in files:
        if path.exists():
            raise UsageError(f"{path.name} exists already", where=str(path), hint="edit it, or remove it first")
    for path, text in files.items():
        place = Place(path.parent, path.name, "make room there, or choose another folder: parity init DIR")
        with storing(place, needed=len(text)):
            _write_new(path, text)
    return list(files)


def _write_new(path: Path, text: str) -> None:
    """A new file, whole or not there."""
    try:
        path.write_text(text, encoding="utf-8")
    except BaseException:
        path.unlink(missing_ok=True)
        raise
