"""An artifact may need operators that only the model's code registers."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.forked import Ended, run_code

CODE = """
import torch

torch.library.define("parity_test::twice", "(Tensor x) -> Tensor")


@torch.library.impl("parity_test::twice", "CompositeExplicitAutograd")
def twice(x):
    return x * 2


class Twice(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.parity_test.twice(x)
"""

OPEN = """
import sys
from pathlib import Path
from parity.artifacts import Artifact, Manifest
from parity.models.signature import parse_signature
from parity.models.spec import ModelSpec
from parity.workers.opening import open_session
import numpy as np

root = Path(sys.argv[1])
spec = ModelSpec("twice", sys.argv[2], parse_signature("x: float32[N, 3]"), root)
artifact = Artifact(root, Manifest("trace", "torchscript", "float", "twice.pt"))
session = open_session(spec, artifact, "torchscript", threads=1, device="cpu")
print(session.run({"x": np.ones((2, 3), np.float32)})["output"].sum())
"""


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    """A folder with `twice.pt`, traced in a process of its own, and the code that it needs."""
    (tmp_path / "operators.py").write_text(CODE)
    (tmp_path / "empty.py").write_text("def model():\n    raise AssertionError\n")
    trace = "import torch, operators; torch.jit.save(torch.jit.trace(operators.Twice(), torch.ones(2, 3)), 'twice.pt')"
    assert run_code(trace, folder=tmp_path).status == 0
    return tmp_path


def opened(folder: Path, factory: str) -> Ended:
    return run_code(textwrap.dedent(OPEN), folder, factory)


def test_the_models_code_is_imported_for_operators_that_it_registers(artifact: Path) -> None:
    done = opened(artifact, "operators.py:Twice")
    assert done.stdout.strip() == "12.0", done.stderr


def test_an_operator_that_nothing_registers_still_refuses_to_open(artifact: Path) -> None:
    done = opened(artifact, "empty.py:model")
    assert done.status != 0
    assert "Unknown builtin op: parity_test::twice" in done.stderr
