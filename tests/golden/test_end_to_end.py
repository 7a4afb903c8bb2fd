"""Real small models, recorded and checked in child processes as the command does."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from parity.errors import GoldenError
from parity.golden.files import FACTS, read_golden
from parity.models.signature import parse_signature
from parity.models.spec import ModelSpec
from parity.pipeline import Request, record_report, run_report
from parity.records import Report, Verdict
from parity.reports.schema import from_json, to_json
from parity.settings import Settings
from parity.targets import plan_targets

NET = """
    import torch
    from torch import nn

    def healthy():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 5))

    def scaled():
        model = healthy()
        with torch.no_grad():
            model[2].weight *= 1.01
        return model

    def noisy():
        return nn.Sequential(healthy(), Noise())

    class Noise(nn.Module):
        def forward(self, x):
            return x + torch.randn_like(x)

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.embedding, self.head = nn.Embedding(20, 8), nn.Linear(8, 3)

        def forward(self, tokens):
            scores = self.head(self.embedding(tokens).cumsum(1))
            return {"scores": scores, "tags": scores.argmax(-1)}

    def shifted():
        model = Tagger()
        with torch.no_grad():
            model.head.bias[1] += 1.0
        return model
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(textwrap.dedent(NET))
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "samples.npz", x=rng.normal(size=(12, 16)).astype(np.float32))
    (tmp_path / "ragged.py").write_text(
        "import numpy as np\n"
        "def samples():\n"
        "    rng = np.random.default_rng(0)\n"
        "    return [{'tokens': rng.integers(0, 20, 2 + i % 3)} for i in range(9)]\n"
    )
    return tmp_path


def _request(folder: Path, factory: str, *, ragged: bool = False) -> Request:
    spec = ModelSpec(
        name="net",
        factory=f"{folder / 'net.py'}:{factory}",
        signature=parse_signature("tokens: int64[N, T in 1..8] in 0..19" if ragged else "x: float32[N, 16]"),
        root=folder,
        samples=f"{folder / 'ragged.py'}:samples" if ragged else "samples.npz",
    )
    return Request(spec, (), Settings(root=folder), batch_sizes=(1, 3), latency=False)


def _checked(folder: Path, request: Request) -> Report:
    return run_report(replace(request, golden=read_golden(folder / "golden" / "net")), folder / "out")


def test_scaled_weights_fail_and_the_same_model_passes(folder: Path) -> None:
    healthy = replace(_request(folder, "healthy"), targets=plan_targets(["trace"]))
    _, golden = record_report(healthy, folder / "out", folder / "golden" / "net")
    assert golden.kept == tuple(range(12))
    assert list(golden.ratios) == ["trace@torchscript"]
    same = _checked(folder, healthy)
    assert same.verdict is Verdict.PASS
    assert [result.kind for result in same.golden] == ["output", "target"]
    scaled = _checked(folder, _request(folder, "scaled"))
    assert scaled.verdict is Verdict.FAIL
    assert "moved since the golden: model (weights" in scaled.golden[0].message
    assert "code" not in scaled.golden[0].message
    assert "toolchain" not in scaled.golden[0].message
    assert from_json(to_json(scaled)) == scaled


def test_reordered_samples_pass_and_replaced_ones_are_inconclusive(folder: Path) -> None:
    request = _request(folder, "healthy")
    record_report(request, folder / "out", folder / "golden" / "net")
    samples = np.load(folder / "samples.npz")["x"]
    np.savez(folder / "samples.npz", x=samples[::-1])
    reordered = _checked(folder, request)
    assert [result.verdict for result in reordered.golden] == [Verdict.PASS, None]
    np.savez(folder / "samples.npz", x=samples + 1)
    replaced = _checked(folder, request)
    assert replaced.verdict is Verdict.INCONCLUSIVE
    assert "data: 0 of 12 kept samples" in replaced.golden[0].message


def test_ragged_and_integer_outputs(folder: Path) -> None:
    request = _request(folder, "Tagger", ragged=True)
    _, golden = record_report(request, folder / "out", folder / "golden" / "net")
    assert golden.outputs == {"scores": "float32", "tags": "int64"}
    assert _checked(folder, request).verdict is Verdict.PASS
    shifted = _checked(folder, _request(folder, "shifted", ragged=True))
    assert {result.name: result.verdict for result in shifted.golden[:2]} == {
        "scores": Verdict.FAIL,
        "tags": Verdict.FAIL,
    }
    assert "tags: exact" in shifted.golden[1].message


def test_an_unstable_reference_leaves_no_golden(folder: Path) -> None:
    with pytest.raises(GoldenError, match="not deterministic"):
        record_report(_request(folder, "noisy"), folder / "out", folder / "golden" / "net")
    assert not (folder / "golden").exists()


def test_an_existing_golden_is_refused_before_anything_is_run(folder: Path) -> None:
    request = _request(folder, "healthy")
    (folder / "golden" / "net").mkdir(parents=True)
    (folder / "golden" / "net" / FACTS).write_text("{}")
    with pytest.raises(GoldenError, match="there is a golden of net already"):
        record_report(request, folder / "out", folder / "golden" / "net")
    assert not (folder / "out").exists()
