"""Faults do what their names say, and are judged by the product's own gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.faults.edits import KINDS
from benchmarks.faults.edits.kinds import Kind
from benchmarks.faults.edits.rounding import through_bfloat16, through_float16, through_int8, to_digits
from benchmarks.faults.graph import Graph, attribute
from benchmarks.faults.judging import Bench, Outputs, model_spec
from benchmarks.faults.networks import Stepped
from benchmarks.faults.plan import plan, plant
from benchmarks.faults.rules import RULES, refusals
from benchmarks.faults.work import Runner, effect, unfused
from parity.arrays import Array
from tests.benchmarks.tiny import SIZE

ROOT = Path(__file__).resolve().parents[2]
NAMES = [kind.name for kind in KINDS]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("bench")
    samples = folder / "samples.npz"
    images = np.random.default_rng(0).standard_normal((16, 3, SIZE, SIZE)).astype(np.float32)
    np.savez(samples, image=images)
    return Bench(model_spec("tiny", "tests.benchmarks.tiny:Tiny", None, samples=samples, size=SIZE, root=ROOT), folder)


@pytest.fixture(scope="module")
def runner(bench: Bench) -> Runner:
    return Runner(bench)


@pytest.fixture(scope="module")
def graph(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return Graph(unfused(bench, tmp_path_factory.mktemp("graph") / "tiny.onnx"))


@pytest.fixture(scope="module")
def right(runner: Runner, graph: Graph) -> Outputs:
    return runner.run(graph.model)


def held_out(bench: Bench) -> list[str]:
    return [call.id for call in bench.calls if call.sweep is None]


def test_names_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_the_healthy_twin_passes(bench: Bench, right: Outputs) -> None:
    judged = bench.judge("healthy", right)
    assert judged.verdict == "pass"
    assert judged.ratio is not None
    assert judged.ratio < 10
    assert not any(refusals(right, right).values())


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_each_kind_changes_the_outputs_and_is_found(
    kind: Kind, bench: Bench, runner: Runner, graph: Graph, right: Outputs
) -> None:
    faults = plan("tiny", graph, [replace(kind, faults=4)])
    assert faults, "the tiny network has no place for it"
    moved: dict[str, tuple[float, Outputs]] = {}
    for fault in faults:
        edited = Graph(graph.model)
        plant(fault, edited)
        wrong = runner.run(edited.model)
        moved[fault.name] = effect(wrong, right, held_out(bench)) or 0.0, wrong
    # Not every place shows: what is on the steps of 8 bits already stays as it is in float16.
    name, (largest, wrong) = max(moved.items(), key=lambda each: each[1][0])
    assert largest > 1e-5
    judged = bench.judge(name, wrong)
    assert judged.verdict == "fail"
    assert judged.needed is None or judged.needed > 10
    assert judged.message


def test_a_fault_is_the_same_each_time_and_leaves_the_original_alone(graph: Graph) -> None:
    before = graph.model.SerializeToString()
    (kind,) = (kind for kind in KINDS if kind.name == "weight-1-percent")
    edited = []
    for _ in range(2):
        copy = Graph(graph.model)
        plant(plan("tiny", graph, [kind])[0], copy)
        edited.append(copy.model.SerializeToString())
    assert edited[0] == edited[1] != before
    assert graph.model.SerializeToString() == before


def test_one_weight_of_the_larger_ones_is_off_by_one_percent(graph: Graph) -> None:
    (kind,) = (kind for kind in KINDS if kind.name == "weight-1-percent")
    fault, copy = plan("tiny", graph, [kind])[0], Graph(graph.model)
    plant(fault, copy)
    before, after = graph.values(fault.sites[0]), copy.values(fault.sites[0])
    (place,) = np.flatnonzero(before != after)
    assert after.reshape(-1)[place] / before.reshape(-1)[place] == pytest.approx(1.01, rel=1e-6)
    assert np.abs(before.reshape(-1)[place]) >= np.quantile(np.abs(before), 0.9)


def test_everywhere_is_every_site(graph: Graph) -> None:
    (kind,) = (kind for kind in KINDS if kind.name == "epsilon-times-100-everywhere")
    copy = Graph(graph.model)
    (fault,) = plan("tiny", graph, [kind])
    plant(fault, copy)
    norms = copy.nodes("BatchNormalization", "LayerNormalization")
    assert len(norms) == len(fault.sites) == 4
    assert all(attribute(node, "epsilon") == pytest.approx(1e-3) for node in norms)


def test_rounding_is_what_torch_and_numpy_do() -> None:
    import torch

    values = np.random.default_rng(0).standard_normal(4096).astype(np.float32)
    tensor = torch.from_numpy(values)
    assert np.array_equal(through_bfloat16(values), tensor.bfloat16().float().numpy())
    assert np.array_equal(through_float16(values), tensor.half().float().numpy())
    assert len(np.unique(through_int8(values))) <= 255
    assert np.abs(through_int8(values) - values).max() <= np.abs(values).max() / 254 * 1.0001
    assert to_digits(np.array([1.41421356, -0.0176776, 0.0], np.float32)).tolist() == pytest.approx(
        [1.41, -0.0177, 0.0]
    )


@pytest.mark.parametrize("scale", [2.0**-5, 2.0**-9])
def test_steps_of_a_power_of_two_are_the_same_in_float64(scale: float) -> None:
    import torch

    torch.manual_seed(0)
    values = torch.randn(100_000) * scale * 40
    step = Stepped(-128, 127, scale)
    assert torch.equal(step(values).double(), step(values.double()))


def arrays(factor: float) -> Mapping[str, Mapping[str, Array]]:
    values = np.random.default_rng(0).uniform(1, 2, (8, 10)).astype(np.float32)
    values[:, ::2] *= np.float32(factor)
    return {"h0": {"y": values}}


@pytest.mark.parametrize(("factor", "refusing"), [(1.0, 0), (1 + 1e-5, 1), (1 + 1e-4, 2), (1 + 1.5e-3, 4), (1.2, 5)])
def test_fixed_rules_differ_in_what_they_refuse(factor: float, refusing: int) -> None:
    assert sum(refusals(arrays(factor), arrays(1.0)).values()) == refusing
    assert len(RULES) == 5


def test_an_output_that_is_lost_is_refused_by_every_rule() -> None:
    assert all(refusals({"h0": {}}, arrays(1.0)).values())
