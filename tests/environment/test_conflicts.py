"""Combinations that are known to go wrong are named with what to do; their healthy twins are not."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata

import pytest

from parity.environment import conflicts, conflicts_here
from parity.environment.conflicts import Surroundings, package_conflicts, thread_conflicts
from parity.environment.packages import fits, wanted_versions

HEALTHY = Surroundings(
    threads=2,
    versions={"torch": "2.14.1+cpu", "torchvision": "0.29.1", "numpy": "2.4.6", "onnxruntime": "1.32.0"},
    needs_torch={"torchvision": ">=2.14.0"},
    variables={"OMP_NUM_THREADS": "2"},
    cores=4,
    quota=2.0,
    torch_reads_numpy=True,
)


def test_a_healthy_environment_has_no_conflicts() -> None:
    assert package_conflicts(HEALTHY) == ()
    assert thread_conflicts(HEALTHY) == ()


@pytest.mark.parametrize("wanted", ["==2.13.0", ">=2.15", "<2.14"])
def test_torchvision_of_another_torch_is_named_with_both_versions(wanted: str) -> None:
    (said,) = package_conflicts(replace(HEALTHY, needs_torch={"torchvision": wanted}))
    assert said.startswith(f"torchvision 0.29.1 asks for torch {wanted}, and torch 2.14.1+cpu is installed")
    assert said.endswith("pip install -U torch torchvision")


def test_two_builds_of_onnx_runtime_are_named() -> None:
    (said,) = package_conflicts(replace(HEALTHY, versions={**HEALTHY.versions, "onnxruntime-gpu": "1.32.0"}))
    assert "onnxruntime and onnxruntime-gpu are installed together" in said


def test_the_gpu_build_alone_is_healthy() -> None:
    versions = {**HEALTHY.versions, "onnxruntime-gpu": "1.32.0"}
    del versions["onnxruntime"]
    assert package_conflicts(replace(HEALTHY, versions=versions)) == ()


def test_a_torch_that_cannot_read_this_numpy_is_named_and_one_that_nobody_has_tried_is_not() -> None:
    (said,) = package_conflicts(replace(HEALTHY, torch_reads_numpy=False))
    assert 'pip install "numpy<2"' in said
    assert package_conflicts(replace(HEALTHY, torch_reads_numpy=None)) == ()


def test_a_share_of_the_machine_that_is_too_small_for_the_threads_is_named() -> None:
    (said,) = thread_conflicts(replace(HEALTHY, quota=1.5))
    assert "leaves this process 1.5 processors for 2 threads" in said
    assert said.endswith("--threads 1")


def test_more_threads_than_processors_are_named() -> None:
    (said,) = thread_conflicts(replace(HEALTHY, cores=1, quota=None, variables={}))
    assert "may use 1 processors for 2 threads" in said


def test_a_variable_that_asks_for_fewer_threads_is_named_and_one_that_asks_for_more_is_not() -> None:
    (said,) = thread_conflicts(replace(HEALTHY, variables={"OMP_NUM_THREADS": "1"}))
    assert said.startswith("OMP_NUM_THREADS=1 is set, and --threads 2 is asked for")
    (bound,) = thread_conflicts(replace(HEALTHY, variables={"OMP_THREAD_LIMIT": "1"}))
    assert bound == "OMP_THREAD_LIMIT=1 bounds what --threads 2 asks for: unset OMP_THREAD_LIMIT"
    for value in ("8", "2,1", "max", ""):
        assert thread_conflicts(replace(HEALTHY, variables={"OMP_NUM_THREADS": value})) == ()


@pytest.mark.parametrize(
    ("version", "wanted", "verdict"),
    [
        ("2.14.1", "==2.14.1", True), ("2.14.1+cu130", "==2.14.1", True), ("2.14", "==2.14.0", True),
        ("2.14.1", "==2.14.0", False), ("2.14.1", "==2.14.*", True), ("2.15.0", "==2.14.*", False),
        ("2.14.1", "!=2.14.0", True), ("2.14.1", ">=2.6,<3", True), ("2.14.1", ">=2.6,<2.14", False),
        ("2.14.1", "~=2.14.0", True), ("2.15.0", "~=2.14.0", False), ("2.9.1", ">=2.14", False),
        ("2.14.1", "", True), ("2.14.1", "===odd", True),
    ],
)  # fmt: skip
def test_versions_are_compared_number_by_number(version: str, wanted: str, verdict: bool) -> None:  # noqa: FBT001
    assert fits(version, wanted) is verdict


def test_what_a_package_asks_for_is_read_from_its_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    for written, wanted in (
        ("torch==2.9.1", "==2.9.1"), ("torch (>=2.14.0)", ">=2.14.0"), ("torch >= 2.4, < 3", ">=2.4,<3"),
        ("torch[cuda]~=2.4", "~=2.4"), ("torch", None), ("torchaudio==2.9", None),
        ('torch==1.0; extra == "old"', None), ('torch==2.1; python_version > "3.8"', "==2.1"),
    ):  # fmt: skip
        monkeypatch.setattr(metadata, "requires", lambda _, written=written: ["numpy", written])
        assert wanted_versions("torchvision", "torch") == wanted, written


def test_a_planted_requirement_reaches_the_report_and_the_real_one_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torchvision", reason="torchvision is not installed: nothing has to be in step with torch")
    assert not [each for each in conflicts_here(1) if "torchvision" in each]
    real = metadata.requires
    monkeypatch.setattr(metadata, "requires", lambda name: ["torch==1.0"] if name == "torchvision" else real(name))
    assert [each for each in conflicts_here(1) if each.startswith("torchvision")]


def test_threads_have_no_conflicts_where_nobody_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conflicts, "cores", lambda: 0)
    assert not [each for each in conflicts_here() if "threads" in each]
    assert [each for each in conflicts_here(1) if "threads" in each]
