"""The targets without a file: where `torch.compile` cannot work it is said why, and nobody gets one unasked."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from parity.artifacts import MODULE, read_recipe
from parity.cli import app
from parity.errors import Unsupported
from parity.exporters import EXPORTERS, on_request
from parity.exporters.trace import TraceExporter
from parity.targets import parse_target, plan_targets
from tests.exporters.jobs import Tiny, exported, job
from tests.runtimes.compilable import Disabled, RecurrentAlone

UNASKED = ["compile", "eager"]


@pytest.fixture
def headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that Python's headers are looked for in, with an empty one."""
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    return tmp_path / "Python.h"


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that `CXX` names, with an argument of its own."""
    program = tmp_path / "my-g++"
    program.touch()
    program.chmod(0o755)
    monkeypatch.setenv("CXX", f"{program} -O1")
    return program


@pytest.mark.usefixtures("headers", "compiler")
def test_compile_is_available_where_a_compiler_and_headers_are() -> None:
    assert EXPORTERS.get("compile").availability()


@pytest.mark.usefixtures("headers")
def test_without_a_compiler_the_reason_names_it_and_what_to_do(compiler: Path) -> None:
    compiler.unlink()
    available = EXPORTERS.get("compile").availability()
    assert not available
    assert str(available) == (
        f"unavailable: torch.compile needs a C++ compiler, and there is no {compiler} -O1 (install one, or set CXX)"
    )


@pytest.mark.usefixtures("compiler")
def test_without_pythons_headers_the_reason_names_the_folder(headers: Path) -> None:
    headers.unlink()
    reason = parse_target("compile").availability().reason
    assert reason == (
        f"torch.compile needs Python's headers, and there is no Python.h in {headers.parent} (install python3-dev)"
    )


def test_they_are_planned_where_they_are_named_and_only_there() -> None:
    assert not {target.exporter for target in plan_targets(None)} & set(UNASKED)
    assert [target.name for target in plan_targets(UNASKED)] == ["compile@torch", "eager@torch"]


def test_an_exporter_that_says_nothing_of_it_is_planned() -> None:
    assert not hasattr(TraceExporter, "on_request")
    assert [name for name in EXPORTERS if on_request(EXPORTERS.get(name))] == UNASKED


def test_the_list_of_targets_says_which_are_on_request() -> None:
    lines = CliRunner().invoke(app, ["targets"]).output.splitlines()
    told = {line.split()[0]: "on request" in line for line in lines if "@" in line}
    assert [name for name, asked in told.items() if asked] == ["compile@torch", "eager@torch"]


@pytest.mark.parametrize("name", UNASKED)
def test_a_recipe_holds_the_options_so_that_the_digest_covers_them(name: str, tmp_path: Path) -> None:
    artifact = exported(name, job(tmp_path / "made"))
    assert (artifact.manifest.format, list(artifact.manifest.files)) == (MODULE, ["recipe.json"])
    assert read_recipe(artifact.entry) == EXPORTERS.get(name).options()


@pytest.mark.parametrize(
    ("model", "why"), [(RecurrentAlone, "Attempted to wrap RNN"), (Disabled, "Skip inlining `torch.compiler.disable")]
)
def test_a_model_of_which_nothing_is_compiled_is_unsupported_with_the_reason(
    model: type[nn.Module], why: str, tmp_path: Path
) -> None:
    with pytest.raises(Unsupported, match=re.escape(f"leaves it to eager: {why}")):
        exported("compile", job(tmp_path / "made", model(), example=(torch.zeros(2, 5),)))


def test_torchscript_has_nothing_to_compile(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r"TorchScript, which torch\.compile does not take"):
        exported("compile", job(tmp_path / "made", torch.jit.script(Tiny().eval())))
