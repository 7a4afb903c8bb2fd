"""Imports point one way, importing the package is cheap, and nothing becomes public by accident."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

import parity

ROOT = Path(parity.__file__).parent

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"records", "errors", "arrays"}),
    frozenset({"registry", "settings", "environment", "artifacts", "storage", "scratch"}),
    frozenset({"models", "samples"}),
    frozenset({"compare", "latency"}),
    frozenset({"exporters", "runtimes"}),
    frozenset({"targets", "cache"}),
    frozenset({"gates"}),
    frozenset({"golden", "diffing"}),
    frozenset(
        {
            "workers",
            "cells",
            "keeping",
            "completing",
            "explanations",
            "exporting",
            "running",
            "workbench",
            "speed",
            "pipeline",
        }
    ),
    frozenset({"reports", "api", "scaffold"}),
    frozenset({"pytest_plugin", "suite", "suite_benchmark", "cli", "__main__"}),
)
"""What may import what: the own layer, and any before it. `parity/__init__.py` stands outside: the version
is read from it, and it hands out the public names only when they are asked for."""

INDEPENDENT: tuple[frozenset[str], ...] = (
    frozenset({"records", "errors", "arrays"}),
    frozenset({"exporters", "runtimes"}),
    frozenset({"compare", "latency"}),
)
"""Layers in which no member may import another."""

EXCEPTIONS: Mapping[tuple[str, str], str] = {
    ("settings", "models.spec"): "the limits of the settings become those that the gates read",
}
"""Imports against the direction, with the reason for each."""


def part(module: str) -> str:
    """The member of a layer that a module belongs to; files that share the command's name are parts of it."""
    first = module.partition(".")[0]
    return "cli" if first.startswith("cli_") else first


def level(module: str) -> int:
    found = [number for number, layer in enumerate(LAYERS) if part(module) in layer]
    assert len(found) == 1, f"{part(module)} belongs to {len(found)} layers: add it to LAYERS"
    return found[0]


def imports(source: str, module: str) -> set[str]:
    """Modules of ours that a source file imports, anywhere in it, without the leading `parity.`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: a relative import hides where it points"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    ours = {name.partition(".")[2] for name in found if name.startswith("parity.")}
    return {name for name in ours if is_module(name)}


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


@functools.cache
def graph() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = imports(path.read_text(encoding="utf-8"), name)
    return found


def against(edges: Iterable[tuple[str, str]]) -> list[str]:
    """Imports that point the wrong way, written as `a imports b`."""
    wrong = []
    for module, imported in edges:
        beside = any({part(module), part(imported)} <= group for group in INDEPENDENT)
        backwards = level(imported) > level(module) or (beside and part(module) != part(imported))
        if backwards and (module, imported) not in EXCEPTIONS:
            wrong.append(f"{module} imports {imported}")
    return sorted(wrong)


def edges() -> list[tuple[str, str]]:
    return [(module, imported) for module, found in graph().items() for imported in found]


def test_imports_point_one_way() -> None:
    assert against(edges()) == []


def test_every_exception_is_still_needed() -> None:
    assert set(EXCEPTIONS) <= set(edges())


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("records", "from parity.errors import ParityError"),
        ("errors", "import parity.records"),
        ("compare.numeric", "from parity.gates import numeric"),
        ("gates.numeric", "def late():\n    from parity.workers.run import run"),
        ("models.build", "if TYPE_CHECKING:\n    from parity.samples import calls\n    from parity.cells import Cell"),
        ("exporters.trace", "from parity.runtimes.base import Session"),
        ("pipeline", "from parity.cli import main"),
        ("reports.html", "from parity import cli"),
    ],
)
def test_a_wrong_import_is_found_wherever_it_hides(module: str, line: str) -> None:
    assert against((module, imported) for imported in imports(line, module))


def test_an_import_that_points_the_right_way_is_let_through() -> None:
    assert against((("gates.numeric", "records"), ("cli", "pipeline"), ("models.build", "models.spec"))) == []


def test_a_relative_import_is_refused() -> None:
    with pytest.raises(AssertionError, match="relative import"):
        imports("from . import errors", "records")


def fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


HEAVY = ("torch", "numpy", "pydantic", "rich", "onnx", "onnxruntime", "scipy", "jinja2", "plotly", "typer")


@pytest.mark.parametrize("statement", ["import parity", "import parity; parity.Verdict; parity.ParityError"])
def test_importing_the_package_loads_nothing_heavy(statement: str) -> None:
    assert fresh(f"import sys; {statement}; print(sorted(set({HEAVY!r}) & set(sys.modules)))") == "[]"


def test_listing_exporters_and_runtimes_loads_neither_torch_nor_onnx() -> None:
    code = (
        "import sys\nfrom parity.exporters import EXPORTERS\nfrom parity.runtimes import RUNTIMES\n"
        "assert EXPORTERS.names() and RUNTIMES.names()\n"
        "print(sorted({'torch', 'onnx', 'onnxruntime'} & set(sys.modules)))"
    )
    assert fresh(code) == "[]"


@pytest.mark.parametrize("package", ["samples", "compare", "gates", "records", "diffing", "reports"])
def test_what_reads_and_judges_numbers_loads_no_torch(package: str) -> None:
    code = (
        f"import importlib, pkgutil, sys, parity.{package} as package\n"
        "for each in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "    importlib.import_module(each.name)\n"
        "print(sorted({'torch', 'torchvision', 'PIL'} & set(sys.modules)))"
    )
    assert fresh(code) == "[]"


PUBLIC = {"ParityError", "Report", "Verdict", "__version__", "register", "report"}


def test_the_public_surface_is_what_was_decided() -> None:
    """A new name here is a promise: decide it, write it into the changelog, then add it."""
    assert set(parity.__all__) == PUBLIC
    assert sorted(parity.__all__) == parity.__all__
    assert set(dir(parity)) == PUBLIC


def test_every_public_name_is_there_and_documented() -> None:
    for name in PUBLIC - {"__version__"}:
        assert getattr(parity, name).__doc__


def test_nothing_else_becomes_public_by_being_imported() -> None:
    loaded = "{name for name in vars(parity) if not name.startswith('_')}"
    names = fresh(f"import parity; print(sorted({loaded}))")
    assert names == "['Any', 'TYPE_CHECKING', 'annotations']"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'parity' has no attribute 'reprot'"):
        _ = parity.reprot
