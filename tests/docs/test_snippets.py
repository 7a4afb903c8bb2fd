"""The exporter, the runtime and the gate that CONTRIBUTING.md shows work as they are written."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from parity.artifacts import Artifact, Manifest
from parity.records import DecisionFinding, Verdict
from tests.docs.shell import ROOT

OUTPUTS = ("logits",)


def snippet(heading: str) -> dict[str, Any]:
    """The names that the first Python block under a heading defines."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = re.search(rf"## {heading}\n.*?```python\n(.*?)```", page, re.DOTALL)
    assert block is not None
    names: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(block[1], f"CONTRIBUTING.md, {heading}", "exec"), names)  # noqa: S102  # the page is ours
    return names


def artifact(folder: Path, kind: str, entry: str) -> Artifact:
    return Artifact(folder, Manifest("snippet", kind, "float", entry, outputs=OUTPUTS))


def test_the_exporter_makes_what_its_runtime_reads(tmp_path: Path) -> None:
    import torch

    from parity.exporters.base import ExportJob
    from parity.models.signature import parse_signature
    from parity.runtimes import RUNTIMES, SessionOptions

    exporter = snippet("Adding an exporter")["StrictExportExporter"]()
    module = torch.nn.Linear(4, 3).eval()
    signature = parse_signature("x: float32[N, 4]")
    job = ExportJob(module, (torch.randn(2, 4),), signature, OUTPUTS, None, tmp_path)
    entry = exporter.export(job).entry
    session = RUNTIMES.get(exporter.runtime).open(
        artifact(tmp_path, exporter.format, entry), SessionOptions(1, signature.names)
    )
    inputs = torch.randn(5, 4)
    (found,) = session.run({"x": inputs.numpy()}).values()
    torch.testing.assert_close(torch.from_numpy(found), module(inputs))


def test_the_runtime_runs_an_onnx_file(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the ONNX targets are optional")
    from parity.runtimes import SessionOptions

    helper, floats = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["twice"])],
        "twice",
        [helper.make_tensor_value_info("x", floats, ["N"])],
        [helper.make_tensor_value_info("twice", floats, ["N"])],
    )
    onnx.save(helper.make_model(graph), tmp_path / "model.onnx")
    runtime = snippet("Adding a runtime")["OnnxReferenceRuntime"]()
    session = runtime.open(artifact(tmp_path, "onnx", "model.onnx"), SessionOptions(1, ("x",)))
    found = session.run({"x": np.arange(3, dtype=np.float32)})
    assert {name: array.tolist() for name, array in found.items()} == {"logits": [0.0, 2.0, 4.0]}


@pytest.mark.parametrize(("accuracy", "verdict"), [(0.99, Verdict.PASS), (0.985, Verdict.PASS), (0.97, Verdict.FAIL)])
def test_the_gate_catches_a_loss_and_lets_its_healthy_twin_through(accuracy: float, verdict: Verdict) -> None:
    judge = snippet("Adding a gate")["judge_accuracy"]
    finding = DecisionFinding(output="logits", metric="accuracy", value=accuracy, reference=0.99, n=540)
    assert judge(finding, SimpleNamespace(accuracy_loss=0.01)).verdict is verdict
